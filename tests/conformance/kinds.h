// The kinds of path of the library, of its tests, and the example: what the suites here run over.
#pragma once

#include <vector>

#include "conformance/connected.h"

namespace lanyard::conformance {

std::vector<Kind> all_kinds();

}  // namespace lanyard::conformance
