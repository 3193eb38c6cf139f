// A TypeDefinition states how a datatype was made: from the combiner and arguments that MPI_Type_get_contents
// returns (MPI-5.0 section 5.1.13). It also presents these as a list of blocks, from which bounds, layout and
// type map are computed. A definition is immutable and holds references to the datatypes that it names.
// Tested by: tests/unit/datatype/contents_test.cc, tests/unit/datatype/array_test.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "datatype/datatype.h"

namespace lanyard {

// `count` elements of `type` that are one extent apart. The first element is at `offset` bytes.
struct TypeBlock {
    int64_t offset;
    int64_t count;
    const Datatype *type;
};

struct TypeDefinition {
    int combiner = 0;
    std::vector<int64_t> integers;   // in the order of the standard's tables, including large counts
    std::vector<int64_t> addresses;  // in bytes
    std::vector<Datatype *> datatypes;
    Datatype *inner = nullptr;  // for subarray and darray: the datatype from which the layout is taken

    TypeDefinition() = default;
    TypeDefinition(const TypeDefinition &) = delete;
    TypeDefinition &operator=(const TypeDefinition &) = delete;
    ~TypeDefinition();

    // The number of blocks, and each block. The datatype's type map consists of the type maps of all blocks,
    // one after the other, from block(0) on. This is also the order of the data in the packed stream.
    int64_t blocks() const;
    TypeBlock block(int64_t index) const;
    // True for vectors. Their blocks are equal and evenly spaced, so the first and the last block determine
    // all.
    bool regular() const;

    void use(Datatype &datatype) {
        datatype.hold();
        datatypes.push_back(&datatype);
    }
};

// The arguments from which a derived datatype was made, in the arrays in which MPI_Type_get_contents returns
// them (MPI-5.0 section 5.1.13).
struct TypeContents {
    std::vector<int64_t> integers, addresses, large_counts;
};
TypeContents contents_of(const Datatype &datatype);

}  // namespace lanyard
