// Categories: one for each part of the library, all within one for the whole library. Each variable and event
// states its category. Categories never change, so their stamp is constant.
#pragma once

#include <vector>

#include "tool/tool.h"

namespace lanyard::tool {

struct Category {
    const char *name, *sentence;
    std::vector<int> categories, cvars, pvars, events;  // indices
};

const std::vector<Category> &categories();
constexpr int categories_stamp = 1;

}  // namespace lanyard::tool
