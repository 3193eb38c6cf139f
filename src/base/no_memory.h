// Memory that runs out, by a limit of the process (ulimit -v, ulimit -d) or because the machine has none
// left.
//
// What the size of an argument asks for, and what can be refused, is asked for by array_or_null(), and the
// call returns an Error of class no_mem. What is small and everywhere (queues, tables, sentences) has no
// way back: it is wanted in the middle of a change. There the process ends with a sentence, and nothing is
// thrown: an exception would end it too, without telling why, or, where the program catches everything,
// leave it with a library that is half changed. The C++ library's own way for this is the new-handler. It
// is the library's alone, as its C++ runtime is linked in and hidden: `new` in the program does what it
// did.
//
// Thread rule: any thread, whatever it holds: nothing here asks for memory.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <type_traits>

namespace lanyard {

// From now on `new` ends the process with this exit code where there is no memory. `who` begins the
// sentence, and lives for ever.
void end_where_new_fails(const char *who, int exit_code);

// That end, where something else than `new` was refused.
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

// So many default-initialised objects, or nothing.
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
