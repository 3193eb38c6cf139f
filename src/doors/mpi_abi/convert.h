// Between the handles of the MPI-5.0 ABI and the library's objects, for the generated entry points of libmpi_abi.so.1.
// A handle is the address of its object, or the ABI's constant when predefined (api/handles.h). Any thread.
#pragma once

#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

#include <cstdlib>

#include "api/call.h"
#include "api/check.h"
#include "api/door.h"
#include "api/generated/core.h"
#include "api/handles.h"
#include "doors/mpi_abi/handle_types.h"

namespace lanyard::mpi_abi {

extern const Door door;

template <class MpiHandle>
using ObjectOf = typename HandleType<MpiHandle>::Object;

template <class MpiHandle>
inline uintptr_t bits_of(MpiHandle handle) {
    return reinterpret_cast<uintptr_t>(handle);
}
template <class MpiHandle>
inline bool is_null(MpiHandle handle) {
    return bits_of(handle) == static_cast<uintptr_t>(HandleType<MpiHandle>::null);
}

// The object of a handle; an error when there is none.
template <class MpiHandle>
inline Error find(const char *name, MpiHandle handle, ObjectOf<MpiHandle> *&object) {
    object = object_of<ObjectOf<MpiHandle>>(bits_of(handle));
    if (object) [[likely]] return {};
    return complaint::bad_handle(name, bits_of(handle), HandleType<MpiHandle>::null, HandleType<MpiHandle>::error);
}
// The same where the null handle is allowed and gives nullptr.
template <class MpiHandle>
inline Error find_or_null(const char *name, MpiHandle handle, ObjectOf<MpiHandle> *&object) {
    return is_null(handle) ? Error() : find(name, handle, object);
}
inline Error find_committed(const char *name, MPI_Datatype handle, Datatype *&object) {
    Error error = find(name, handle, object);
    return error ? error : check_committed(name, *object);
}

// The handle of an object; the null handle for nullptr.
template <class MpiHandle>
inline void store(MpiHandle *handle, ObjectOf<MpiHandle> *object) {
    *handle = reinterpret_cast<MpiHandle>(handle_of(object));
}
template <class MpiHandle>
inline MpiHandle handle_for(ObjectOf<MpiHandle> *object) {
    MpiHandle handle;
    store(&handle, object);
    return handle;
}

// The objects of an array of handles: on the stack when they are few.
template <class MpiHandle>
class Objects {
public:
    using Object = ObjectOf<MpiHandle>;

    Objects() = default;
    Objects(const Objects &) = delete;
    Objects &operator=(const Objects &) = delete;
    ~Objects() {
        if (all_ != few_) std::free(all_);
    }

    Error find(const char *name, const MpiHandle *handles, int64_t count) { return convert(name, handles, count, false); }
    Error find_or_null(const char *name, const MpiHandle *handles, int64_t count) { return convert(name, handles, count, true); }
    Error find_committed(const char *name, const MpiHandle *handles, int64_t count) {
        Error error = convert(name, handles, count, false);
        for (int64_t i = 0; !error && i < count_; ++i) error = check_committed(name, *all_[i]);
        return error;
    }
    // Room for `count` objects to come, nullptr until then.
    Error reserve(const char *name, const MpiHandle *handles, int64_t count) {
        Error error = check_array(name, handles, count);
        if (!error) error = make_room(name, count);
        for (int64_t i = 0; !error && i < count_; ++i) all_[i] = nullptr;
        return error;
    }

    Object **data() { return all_; }
    // nullptr for an array that is not significant.
    Object **data_or_null() { return count_ > 0 ? all_ : nullptr; }

    // Writes the handles back: all of them, or those that have come.
    void store(MpiHandle *handles) const {
        for (int64_t i = 0; i < count_; ++i) mpi_abi::store(&handles[i], all_[i]);
    }
    void store_found(MpiHandle *handles) const {
        for (int64_t i = 0; i < count_; ++i)
            if (all_[i]) mpi_abi::store(&handles[i], all_[i]);
    }

private:
    static constexpr int64_t few = 64;

    Error make_room(const char *name, int64_t count) {
        if (count > few) {
            auto *many = static_cast<Object **>(std::malloc(static_cast<size_t>(count) * sizeof(Object *)));
            if (!many) return complaint::no_memory(name);
            all_ = many;
        }
        count_ = count > 0 ? count : 0;
        return {};
    }
    Error convert(const char *name, const MpiHandle *handles, int64_t count, bool null_allowed) {
        Error error = check_array(name, handles, count);
        if (!error) error = make_room(name, count);
        for (int64_t i = 0; !error && i < count_; ++i) {
            all_[i] = nullptr;
            if (!null_allowed || !is_null(handles[i])) error = mpi_abi::find(name, handles[i], all_[i]);
        }
        return error;
    }

    Object *few_[few];
    Object **all_ = few_;
    int64_t count_ = 0;
};

template <class MpiFunction>
inline Callback callback(MpiFunction *function, bool large_count) {
    return {reinterpret_cast<void (*)()>(function), &door, large_count};
}

inline Status *status_of(MPI_Status *status) { return reinterpret_cast<Status *>(status); }
inline const Status *status_of(const MPI_Status *status) { return reinterpret_cast<const Status *>(status); }

// Arguments as they are shown in the sentence of an error.
template <class MpiHandle>
inline Argument shown_handle(const char *name, MpiHandle handle) {
    return {name, Argument::Form::handle, HandleType<MpiHandle>::null, static_cast<int64_t>(bits_of(handle))};
}

// What the door does by itself. Handles as integers: MPI-5.0 section 20.4.
template <class MpiHandle>
inline int to_integer(MpiHandle handle) {
    auto *object = object_of<ObjectOf<MpiHandle>>(bits_of(handle));
    return object ? integer_of(object) : static_cast<int>(bits_of(handle) & 0xfff);
}
template <class MpiHandle>
inline MpiHandle from_integer(int integer) {
    return handle_for<MpiHandle>(object_of_integer<ObjectOf<MpiHandle>>(integer));
}
inline MPI_Aint add_addresses(MPI_Aint base, MPI_Aint displacement) {
    return static_cast<MPI_Aint>(static_cast<uintptr_t>(base) + static_cast<uintptr_t>(displacement));
}
inline MPI_Aint subtract_addresses(MPI_Aint one, MPI_Aint other) {
    return static_cast<MPI_Aint>(static_cast<uintptr_t>(one) - static_cast<uintptr_t>(other));
}

}  // namespace lanyard::mpi_abi
