// One side of a collective operation, what a rank sends or receives: blocks in memory, as the functions of MPI want to be told of them.
#pragma once

#include "world.h"

namespace random_calls {

struct Side {
    Area *area = nullptr;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    // Of each block; they live as long as the operation. Places are in extents, or in bytes where each block has a type of its own.
    const int *counts = nullptr, *places = nullptr;
    const MPI_Aint *addresses = nullptr;
    const MPI_Datatype *types = nullptr;
};

// Blocks of so many elements with this signature, in a layout of this rank's own: one behind the other, or with gaps (`with_places`), and
// each in another layout (`typed`).
Side make_side(World &world, Ongoing &ongoing, const Signature &unit, const std::vector<int> &lengths, bool with_places, bool typed);

inline std::string in_words(Form form) { return form == Form::now ? "" : form == Form::later ? "nonblocking " : "persistent "; }

}  // namespace random_calls
