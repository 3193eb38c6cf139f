// Reports to the leak sanitizer, in a program built with it, where pointers lie outside the allocator's
// memory.
#pragma once

#include <cstddef>

extern "C" [[gnu::weak]] void __lsan_register_root_region(const void *start, size_t bytes);
extern "C" [[gnu::weak]] void __lsan_unregister_root_region(const void *start, size_t bytes);

namespace lanyard {

inline void register_leak_root(const void *start, size_t bytes) {
    if (__lsan_register_root_region) __lsan_register_root_region(start, bytes);
}
inline void unregister_leak_root(const void *start, size_t bytes) {
    if (__lsan_unregister_root_region) __lsan_unregister_root_region(start, bytes);
}

}  // namespace lanyard
