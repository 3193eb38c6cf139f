// The kinds of path over which the suites in this folder run: the library's own, those that exist
// only for tests, and the example.
#pragma once

#include <vector>

#include "conformance/connected.h"

namespace lanyard::conformance {

std::vector<Kind> all_kinds();

}  // namespace lanyard::conformance
