// Defines what happens when a process runs out of memory, because of a limit of the process (ulimit -v,
// ulimit -d) or because the machine has no memory left.
//
// Memory whose size depends on an argument of an MPI call is requested by array_or_null(). If that fails, the
// call returns an Error of class no_mem. Small allocations (queues, tables, sentences) are everywhere, often
// in the middle of a change that cannot be undone. If a small allocation fails, the process ends with a
// message and nothing is thrown. An exception would end the process too, but without stating the reason. If
// the program caught the exception, the library would be left half-changed. The process is ended by a
// new-handler, the C++ library's own mechanism. The library has a C++ runtime of its own, linked in and
// hidden. So the handler belongs to the library alone, and `new` in the program is unaffected.
//
// Thread rule: any thread, whatever locks of the library it holds. Only array_or_null() allocates memory. The
// end of the process writes out what the program has printed, and so waits for the locks of its streams. It
// waits for at most two seconds, because another thread may hold such a lock for ever, for example while it
// reads standard input.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <type_traits>

namespace lanyard {

// From now on, a failing `new` ends the process with this exit code. The text `who` begins the message and
// must exist until exit.
void end_where_new_fails(const char *who, int exit_code);

// Ends the process in the same way. For memory that was requested by other means than `new`.
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

// Returns `count` default-initialised objects, or null if there is not enough memory.
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
