// Computes the blocks that each combiner describes, and the contents of definitions (definition.h).
#include "datatype/definition.h"

#include "base/abi_constants.h"

namespace lanyard {

TypeDefinition::~TypeDefinition() {
    for (Datatype *datatype : datatypes) release(*datatype);
    if (inner) release(*inner);
}

int64_t TypeDefinition::blocks() const {
    switch (combiner) {
    case abi::combiner_contiguous:
    case abi::combiner_dup:
    case abi::combiner_resized:
    case abi::combiner_subarray:
    case abi::combiner_darray: return 1;
    }
    return integers[0];
}

bool TypeDefinition::regular() const {
    return combiner == abi::combiner_vector || combiner == abi::combiner_hvector;
}

TypeBlock TypeDefinition::block(int64_t index) const {
    size_t i = static_cast<size_t>(index), n = integers.empty() ? 0 : static_cast<size_t>(integers[0]);
    const Datatype *old = datatypes[0];
    switch (combiner) {
    case abi::combiner_contiguous: return {0, integers[0], old};
    case abi::combiner_vector: return {index * integers[2] * old->extent, integers[1], old};
    case abi::combiner_hvector: return {index * addresses[0], integers[1], old};
    case abi::combiner_indexed: return {integers[1 + n + i] * old->extent, integers[1 + i], old};
    case abi::combiner_hindexed: return {addresses[i], integers[1 + i], old};
    case abi::combiner_indexed_block: return {integers[2 + i] * old->extent, integers[1], old};
    case abi::combiner_hindexed_block: return {addresses[i], integers[1], old};
    case abi::combiner_struct: return {addresses[i], integers[1 + i], datatypes[i]};
    case abi::combiner_subarray:
    case abi::combiner_darray: return {0, 1, inner};
    }
    return {0, 1, old};  // dup, resized
}

TypeContents contents_of(const Datatype &datatype) {
    const TypeDefinition &definition = *datatype.definition;
    const std::vector<int64_t> &all = definition.integers;
    if (!datatype.large_counts) return {all, definition.addresses, {}};
    auto part = [&](size_t from, size_t to) {
        return std::vector<int64_t>(all.data() + from, all.data() + to);
    };
    TypeContents contents;
    // The integers of a subarray are: dimensions, sizes, subsizes, starts, order. Those of a darray are:
    // processes, rank, dimensions, sizes, and others.
    if (definition.combiner == abi::combiner_subarray) {
        contents.integers = {all.front(), all.back()};
        contents.large_counts = part(1, all.size() - 1);
    } else if (definition.combiner == abi::combiner_darray) {
        size_t dimensions = static_cast<size_t>(all[2]);
        contents.integers = part(0, 3);
        std::vector<int64_t> rest = part(3 + dimensions, all.size());
        contents.integers.insert(contents.integers.end(), rest.begin(), rest.end());
        contents.large_counts = part(3, 3 + dimensions);
    } else {
        contents.large_counts = all;
        contents.large_counts.insert(contents.large_counts.end(), definition.addresses.begin(),
                                     definition.addresses.end());
    }
    return contents;
}

}  // namespace lanyard
