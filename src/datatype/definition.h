// How a datatype was made: combiner and arguments as MPI_Type_get_contents returns them (MPI-5.0 section
// 5.1.13), and the same as a list of blocks. Bounds, layout and type map follow from the blocks. A definition
// is immutable and holds the datatypes that it names.
#pragma once

#include <cstdint>
#include <vector>

#include "datatype/datatype.h"

namespace lanyard {

// `count` elements of `type`, one extent apart, the first at `offset` bytes.
struct TypeBlock {
    int64_t offset;
    int64_t count;
    const Datatype *type;
};

struct TypeDefinition {
    int combiner = 0;
    std::vector<int64_t> integers;   // in the order of the standard's table, including counts of any width
    std::vector<int64_t> addresses;  // bytes
    std::vector<Datatype *> datatypes;
    Datatype *inner = nullptr;  // for subarray and darray: the nested datatype that has the layout

    TypeDefinition() = default;
    TypeDefinition(const TypeDefinition &) = delete;
    TypeDefinition &operator=(const TypeDefinition &) = delete;
    ~TypeDefinition();

    // The type map in stream order is that of blocks 0, 1, ... blocks() - 1.
    int64_t blocks() const;
    TypeBlock block(int64_t index) const;
    // True if all blocks are equal and evenly spaced, so that the first and the last determine all of them.
    bool regular() const;

    void use(Datatype &datatype) {
        datatype.hold();
        datatypes.push_back(&datatype);
    }
};

// The arguments that made a derived datatype, sorted as MPI_Type_get_contents returns them (MPI-5.0 section
// 5.1.13).
struct TypeContents {
    std::vector<int64_t> integers, addresses, large_counts;
};
TypeContents contents_of(const Datatype &datatype);

}  // namespace lanyard
