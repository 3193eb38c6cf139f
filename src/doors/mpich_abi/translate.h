// Numbers, buffers and arrays of the MPICH ABI to the library's and back, where the tables of values.h do not suffice: KIND_in and
// KIND_out, named by the kinds of parameters in api/kinds.toml. Any thread.
#pragma once

#include <cstdlib>

#include "api/check.h"
#include "doors/mpich_abi/values.h"

namespace lanyard::mpich_abi {

// MPI_IN_PLACE is -1 there and 1 here, MPI_BUFFER_AUTOMATIC -2 and 2; MPI_BOTTOM is 0 in both.
template <class Buffer>
inline Buffer *buffer_in(Buffer *buffer) {
    auto bits = reinterpret_cast<intptr_t>(buffer);
    return bits == -1 || bits == -2 ? reinterpret_cast<Buffer *>(-bits) : buffer;
}
inline void *attached_buffer_out(void *buffer) {
    return reinterpret_cast<uintptr_t>(buffer) == abi::buffer_automatic ? reinterpret_cast<void *>(-2) : buffer;
}

// An error code is a class; or a failure of this run, whose class is its low byte; or one that the program added, of which both
// libraries promise that it is above MPI_ERR_LASTCODE; or a number of the program's own functions that means nothing to MPI, which
// comes back as it went in: a negative one as it is, others above the library's failures.
constexpr int first_failure = 1 << 29, first_foreign = 1 << 30, first_added = abi::err_lastcode + 1, first_added_here = 1 << 30;

inline int error_code_in(int code) {
    if (code < 0) return code;
    if (code >= first_added_here) return code - first_added_here + first_added;
    if (code >= first_failure && code != 0x3fffffff) return (code & ~0xff) | error_class_in(code & 0xff);
    int known = code < first_added || code == 0x3fffffff ? error_class_in(code) : no_such_value;
    return known == no_such_value ? first_foreign + code : known;
}
inline int error_code_out(int code) {
    if (code <= 0) return code;
    if (code >= first_foreign) return code - first_foreign;
    if (code >= first_failure) return (code & ~0xff) | error_class_out(code & 0xff);
    return code >= first_added ? code - first_added + first_added_here : error_class_out(code);
}

// Values of predefined attributes that are constants or codes; `value` is where MPI_X_get_attr has put the address of an int.
void attribute_out(void *value, int keyval, int found);

// The integers from which a datatype was made hold constants for some combiners.
void type_arguments_out(int *integers, Datatype &datatype, int64_t count);

// A string in a shorter array than the library's.
void copy_text(const char *text, char *place, int room, int *length);

// An array of the program's numbers, translated: on the stack when they are few.
template <int (*translate_in)(int)>
class Translated {
public:
    Translated() = default;
    Translated(const Translated &) = delete;
    Translated &operator=(const Translated &) = delete;
    ~Translated() {
        if (all_ != few_) std::free(all_);
    }

    Error read(const char *name, const int *given, int64_t count) {
        Error error = check_array(name, given, count);
        if (error) return error;
        if (count > few) {
            auto *many = static_cast<int *>(std::malloc(static_cast<size_t>(count) * sizeof(int)));
            if (!many) return complaint::no_memory(name);
            all_ = many;
        }
        for (int64_t i = 0; i < count; ++i) all_[i] = translate_in(given[i]);
        return {};
    }
    const int *data() const { return all_; }

private:
    static constexpr int64_t few = 64;

    int few_[few];
    int *all_ = few_;
};

template <int (*translate_out)(int)>
inline void translate(int *values, int64_t count) {
    for (int64_t i = 0; values && i < count; ++i) values[i] = translate_out(values[i]);
}

}  // namespace lanyard::mpich_abi
