// Reports to the leak sanitizer which memory contains pointers although it does not belong to the allocator.
// Has no effect in programs that are built without the sanitizer.
// Tested by: tests/command/test_sanitizers.py.
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
