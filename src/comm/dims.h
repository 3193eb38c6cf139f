// MPI_Dims_create (MPI-5.0 8.5.2): divides processes over the dimensions of a grid. Pure functions; any
// thread.
#pragma once

#include <span>
#include <vector>

#include "base/error.h"

namespace lanyard {

// Returns `count` >= 1 as a product of `parts` >= 1 factors, largest first. The factors are as close to each
// other as possible: the difference between the largest and the smallest factor is as small as possible. If
// several products have that difference, the one whose factors have the smallest sum is returned.
std::vector<int> balanced_factors(int count, int parts);

// Replaces the zeros in `dims` so that the product of all entries is `processes`. If that is impossible,
// returns an Error of class `dims`. If `processes` < 1, the class is `arg`.
Error balance_dims(int processes, std::span<int> dims);

}  // namespace lanyard
