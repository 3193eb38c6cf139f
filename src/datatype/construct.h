// Declares the constructors of derived datatypes (MPI-5.0 sections 5.1.2 to 5.1.7). Each constructor checks
// its arguments, computes bounds and layout, and stores a new datatype with one reference in `made`. Arrays
// that are passed together must have equal lengths, which is not checked. A new datatype is not committed,
// except as stated. Some arrays are passed by value, so that callers can move them in.
// Thread rule: any thread.
// Tested by: tests/unit/datatype/layout_test.cc, tests/unit/datatype/predefined_test.cc.
// Tested by: tests/unit/datatype/contents_test.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "datatype/datatype.h"

namespace lanyard {

using Integers = std::vector<int64_t>;

Error make_contiguous(int64_t count, Datatype &old, Datatype **made);
// The stride is in extents of `old`.
Error make_vector(int64_t count, int64_t blocklength, int64_t stride, Datatype &old, Datatype **made);
// The stride is in bytes.
Error make_hvector(int64_t count, int64_t blocklength, int64_t stride, Datatype &old, Datatype **made);
// Displacements are in extents of `old`.
Error make_indexed(const Integers &blocklengths, const Integers &displacements, Datatype &old,
                   Datatype **made);
// Displacements are in bytes.
Error make_hindexed(const Integers &blocklengths, Integers displacements, Datatype &old, Datatype **made);
Error make_indexed_block(int64_t blocklength, const Integers &displacements, Datatype &old, Datatype **made);
Error make_hindexed_block(int64_t blocklength, Integers displacements, Datatype &old, Datatype **made);
Error make_struct(const Integers &blocklengths, Integers displacements, const std::vector<Datatype *> &types,
                  Datatype **made);
Error make_resized(Datatype &old, int64_t lower_bound, int64_t extent, Datatype **made);
// A duplicate is committed if the original is.
Error make_dup(Datatype &old, Datatype **made);
// Creates another object for the same datatype, which must be a derived one. The copy has the definition and
// the commit mark of `old`, but not its name and attributes.
Error make_copy(const Datatype &old, Datatype **made);

// The datatype of a part of an array. `order` is abi::order_c or abi::order_fortran.
Error make_subarray(const Integers &sizes, Integers subsizes, Integers starts, int order, Datatype &old,
                    Datatype **made);
// States how an array is distributed over a grid of processes. make_darray() creates the datatype of the part
// that process `rank` has.
struct Distribution {
    int64_t processes, rank;
    Integers sizes;
    std::vector<int> kinds;      // abi::distribute_block, _cyclic or _none, for each dimension
    std::vector<int> arguments;  // the block size for each dimension, or abi::distribute_dflt_darg
    std::vector<int> grid;       // the number of processes in each dimension
    int order;
};
Error make_darray(Distribution distribution, Datatype &old, Datatype **made);

}  // namespace lanyard
