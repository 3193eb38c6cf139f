// Helpers for the programs of this folder: they find variables and events by name, and read values through
// handles.
#pragma once

#include <vector>

#include "../comm/check.h"

constexpr int text_room = 2048;

inline void good(int code, const std::source_location &where = std::source_location::current()) {
    check(code == MPI_SUCCESS, "the call gave " + std::to_string(code), where);
}
inline void refused(int code, int wanted,
                    const std::source_location &where = std::source_location::current()) {
    check_equal(code, wanted, where);
}

// Initialises the tool interface, and finalises it when this object is destroyed.
struct ToolUse {
    ToolUse() {
        int provided = -1;
        good(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
        check(provided >= MPI_THREAD_SINGLE);
    }
    ~ToolUse() { good(MPI_T_finalize()); }
};

inline int cvar_index(const char *name) {
    int index = -1;
    good(MPI_T_cvar_get_index(name, &index));
    return index;
}

// A control variable that is read and written through a handle.
class Control {
public:
    explicit Control(const char *name, MPI_Comm comm = MPI_COMM_NULL) {
        good(MPI_T_cvar_handle_alloc(cvar_index(name), comm == MPI_COMM_NULL ? nullptr : &comm, &handle_,
                                     &count_));
    }
    ~Control() {
        good(MPI_T_cvar_handle_free(&handle_));
        check(handle_ == MPI_T_CVAR_HANDLE_NULL);
    }
    Control(const Control &) = delete;
    Control &operator=(const Control &) = delete;

    template <class T>
    T read() const {
        T value;
        good(MPI_T_cvar_read(handle_, &value));
        return value;
    }
    void read_into(void *place) const { good(MPI_T_cvar_read(handle_, place)); }
    std::string text() const {
        std::string value(static_cast<size_t>(count_), 0);
        good(MPI_T_cvar_read(handle_, value.data()));
        return value.c_str();
    }
    template <class T>
    int write(T value) const {
        return MPI_T_cvar_write(handle_, &value);
    }
    int write_text(const char *value) const { return MPI_T_cvar_write(handle_, value); }
    int count() const { return count_; }

private:
    MPI_T_cvar_handle handle_ = MPI_T_CVAR_HANDLE_NULL;
    int count_ = 0;
};

inline int pvar_index(const char *name, int var_class) {
    int index = -1;
    good(MPI_T_pvar_get_index(name, var_class, &index));
    return index;
}

// A performance variable, with a session of its own in which it is read. The variable is started unless it is
// continuous.
template <class T = unsigned long long>
class Reading {
public:
    explicit Reading(const char *name, int var_class = MPI_T_PVAR_CLASS_COUNTER,
                     MPI_Comm comm = MPI_COMM_NULL) {
        int index = pvar_index(name, var_class), continuous = -1;
        good(MPI_T_pvar_session_create(&session));
        good(MPI_T_pvar_handle_alloc(session, index, comm == MPI_COMM_NULL ? nullptr : &comm, &handle,
                                     &count));
        good(MPI_T_pvar_get_info(index, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                 nullptr, nullptr, nullptr, &continuous, nullptr));
        if (!continuous) good(MPI_T_pvar_start(session, handle));
    }
    ~Reading() {
        good(MPI_T_pvar_handle_free(session, &handle));
        check(handle == MPI_T_PVAR_HANDLE_NULL);
        good(MPI_T_pvar_session_free(&session));
        check(session == MPI_T_PVAR_SESSION_NULL);
    }
    Reading(const Reading &) = delete;
    Reading &operator=(const Reading &) = delete;

    T value(const std::source_location &where = std::source_location::current()) const {
        check_equal(count, 1, where);
        T value{};
        good(MPI_T_pvar_read(session, handle, &value), where);
        return value;
    }
    std::vector<T> values(const std::source_location &where = std::source_location::current()) const {
        std::vector<T> all(static_cast<size_t>(count));
        good(MPI_T_pvar_read(session, handle, all.data()), where);
        return all;
    }

    int count = 0;
    MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
};
