// Defines the categories of MPI_T. There is one category for each part of the library, and all of these are
// within one category for the whole library. Each variable and event states its category. Categories never
// change, so their stamp is constant.
// Tested by: tests/unit/tool/tool_test.cc, tests/mpi/tool/events.cc.
#pragma once

#include <vector>

#include "tool/tool.h"

namespace lanyard::tool {

struct Category {
    const char *name, *sentence;
    std::vector<int> categories, cvars, pvars, events;  // the indices of the members
};

const std::vector<Category> &categories();
constexpr int categories_stamp = 1;

}  // namespace lanyard::tool
