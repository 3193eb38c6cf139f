// Categories: one for each part of the library, all within one for the whole. A variable or event says which is its own. They are the
// same from start to end, so their stamp never changes.
#pragma once

#include <vector>

#include "tool/tool.h"

namespace lanyard::tool {

struct Category {
    const char *name, *sentence;
    std::vector<int> categories, cvars, pvars, events;  // their indices
};

const std::vector<Category> &categories();
constexpr int categories_stamp = 1;

}  // namespace lanyard::tool
