// Tells long tests whether to leave out most of their cases (LANYARD_TEST_FEW).
#pragma once

#include <cstdlib>

#include "base/valgrind.h"

namespace lanyard::sim {

inline bool fewer_wanted() { return std::getenv("LANYARD_TEST_FEW") != nullptr; }

// Returns true if few cases are to run: LANYARD_TEST_FEW is set, and this is a build with a sanitizer or runs
// under valgrind, where each case takes several times as long.
inline bool few_cases() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    constexpr bool slow = true;
#else
    const bool slow = under_valgrind();
#endif
    return slow && fewer_wanted();
}

}  // namespace lanyard::sim
