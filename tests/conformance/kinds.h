// Lists the kinds of path over which the suites in this folder run: the library's own paths, paths that exist
// only for tests, and the example path.
#pragma once

#include <vector>

#include "conformance/connected.h"

namespace lanyard::conformance {

std::vector<Kind> all_kinds();

}  // namespace lanyard::conformance
