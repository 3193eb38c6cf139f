// Finds out whether the program, but not the library, is built with the address or thread sanitizer. The
// sanitizer then sees only some of what the library does to the program's memory, such as calls of memcpy.
// Any thread.
// Tested by: tests/command/test_sanitizers.py.
#pragma once

#include "base/race_checker.h"

extern "C" {
[[gnu::weak]] void __asan_init();
}

namespace lanyard {

inline bool only_program_is_sanitized() {
#if defined(__SANITIZE_ADDRESS__)
    return false;
#else
    return __asan_init || race_checker::there();
#endif
}

}  // namespace lanyard
