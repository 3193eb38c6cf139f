// Defines Side, which describes the data that a rank sends or receives in a collective operation. The data
// are blocks in memory, described by the arguments that MPI functions have.
#pragma once

#include "world.h"

namespace random_calls {

struct Side {
    Area *area = nullptr;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    // Each array has one element for each block, and exists as long as the operation. `places` counts in
    // extents of the datatype, or in bytes if each block has its own type.
    const int *counts = nullptr, *places = nullptr;
    const MPI_Aint *addresses = nullptr;
    const MPI_Datatype *types = nullptr;
};

// Makes blocks with `lengths` elements of this signature. This rank chooses the layout. The blocks are
// adjacent, or have gaps if `with_places`. If `typed`, each block has a different layout.
Side make_side(World &world, Ongoing &ongoing, const Signature &unit, const std::vector<int> &lengths,
               bool with_places, bool typed);

inline std::string in_words(Form form) {
    return form == Form::now ? "" : form == Form::later ? "nonblocking " : "persistent ";
}

}  // namespace random_calls
