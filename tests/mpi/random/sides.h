// One side of a collective operation, which is what a rank sends or receives: blocks in memory, in the form
// that the MPI functions take.
#pragma once

#include "world.h"

namespace random_calls {

struct Side {
    Area *area = nullptr;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    // One element for each block. The arrays live as long as the operation. Places are in extents, or in
    // bytes if each block has its own type.
    const int *counts = nullptr, *places = nullptr;
    const MPI_Aint *addresses = nullptr;
    const MPI_Datatype *types = nullptr;
};

// Blocks with `lengths` elements of this signature, in a layout that this rank chooses: adjacent or with gaps
// (`with_places`), and each in a different layout (`typed`).
Side make_side(World &world, Ongoing &ongoing, const Signature &unit, const std::vector<int> &lengths,
               bool with_places, bool typed);

inline std::string in_words(Form form) {
    return form == Form::now ? "" : form == Form::later ? "nonblocking " : "persistent ";
}

}  // namespace random_calls
