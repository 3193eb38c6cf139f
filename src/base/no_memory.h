// Running out of memory, by a limit of the process (ulimit -v, ulimit -d) or because the machine has none
// left.
//
// Memory whose size depends on an argument is requested by array_or_null(), and the call returns an Error of
// class no_mem. Small allocations (queues, tables, sentences) are everywhere and have no way back, because
// they occur in the middle of a change. If one fails, the process ends with a message and nothing is thrown.
// An exception would end the process too, but without a reason. If the program catches everything, an
// exception would leave it with a half-changed library. The new-handler, the C++ library's own mechanism, is
// used for this. It belongs to this library alone, whose C++ runtime is linked in and hidden, so `new` in the
// program is unaffected.
//
// Thread rule: any thread, whatever it holds. Nothing here allocates memory.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <type_traits>

namespace lanyard {

// From now on a failing `new` ends the process with this exit code. `who` begins the message and must live
// until exit.
void end_where_new_fails(const char *who, int exit_code);

// Ends the process in the same way, for a failure outside `new`.
[[noreturn]] void end_without_memory();

template <class T>
struct FreeArray {
    size_t count = 0;
    void operator()(T *first) const {
        std::destroy_n(first, count);
        std::free(first);
    }
};
template <class T>
using FallibleArray = std::unique_ptr<T[], FreeArray<T>>;

// `count` default-initialised objects, or null.
template <class T>
FallibleArray<T> array_or_null(size_t count) {
    static_assert(alignof(T) <= alignof(std::max_align_t) && std::is_nothrow_default_constructible_v<T>);
    size_t bytes;
    if (__builtin_mul_overflow(count, sizeof(T), &bytes)) return {};
    void *memory = std::malloc(bytes ? bytes : 1);
    if (!memory) return {};
    auto *first = static_cast<T *>(memory);
    std::uninitialized_default_construct_n(first, count);
    return {first, FreeArray<T>{count}};
}

}  // namespace lanyard
