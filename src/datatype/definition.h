// How a datatype was made: combiner and arguments as MPI_Type_get_contents gives them, and the same as a list of blocks,
// from which bounds, layout and type map follow. Immutable; keeps the datatypes it names alive. MPI-5.0 section 5.1.13.
#pragma once

#include <cstdint>
#include <vector>

#include "datatype/datatype.h"

namespace lanyard {

// `count` elements of `type`, each an extent after the one before, the first at `offset` bytes.
struct TypeBlock {
    int64_t offset;
    int64_t count;
    const Datatype *type;
};

struct TypeDefinition {
    int combiner = 0;
    std::vector<int64_t> integers;   // in the order of the standard's table; counts among them, whatever their width
    std::vector<int64_t> addresses;  // bytes
    std::vector<Datatype *> datatypes;
    Datatype *inner = nullptr;  // subarray, darray: the nested datatype that does the work

    TypeDefinition() = default;
    TypeDefinition(const TypeDefinition &) = delete;
    TypeDefinition &operator=(const TypeDefinition &) = delete;
    ~TypeDefinition();

    // The type map in stream order is that of blocks 0, 1, ... blocks() - 1.
    int64_t blocks() const;
    TypeBlock block(int64_t index) const;
    // All blocks are equal and evenly spaced: the first and the last say where all are.
    bool regular() const;

    void use(Datatype &datatype) {
        datatype.hold();
        datatypes.push_back(&datatype);
    }
};

// The arguments that made a derived datatype, as MPI_Type_get_contents sorts them (MPI-5.0 section 5.1.13).
struct TypeContents {
    std::vector<int64_t> integers, addresses, large_counts;
};
TypeContents contents_of(const Datatype &datatype);

}  // namespace lanyard
