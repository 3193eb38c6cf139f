// Runs the conformance suite (path_suite.h) for every kind of path.
#include "conformance/kinds.h"
#include "conformance/path_suite.h"

namespace lanyard::conformance {
namespace {

INSTANTIATE_TEST_SUITE_P(Path, PathSuite, ::testing::ValuesIn(all_kinds()),
                         [](const auto &about) { return std::string(about.param.name); });

}  // namespace
}  // namespace lanyard::conformance
