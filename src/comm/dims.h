// MPI_Dims_create (MPI-5.0 8.5.2): dividing processes over the dimensions of a grid. Pure functions; any thread.
#pragma once

#include <span>
#include <vector>

#include "base/error.h"

namespace lanyard {

// `count` >= 1 as a product of `parts` >= 1 factors, largest first, as close to each other as possible: the least difference
// between the largest and the smallest, and among those the least sum.
std::vector<int> balanced_factors(int count, int parts);

// Replaces the zeros in `dims` so that the product of all is `processes`. What cannot be is an Error of class `dims`.
Error balance_dims(int processes, std::span<int> dims);

}  // namespace lanyard
