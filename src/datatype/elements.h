// The basic elements of datatypes in stream order: visiting them with their addresses (for external32), and
// the arithmetic of MPI_Get_count, MPI_Get_elements and MPI_Status_set_elements.
#pragma once

#include <cstdint>

#include "base/abi_constants.h"
#include "datatype/definition.h"

namespace lanyard {

// For `count` elements of `datatype` from `offset` on, calls visit(type, offset, count): `count` basic
// elements of `type`, one extent apart. If visit returns false, this function stops and returns false.
template <class Visit>
bool each_element(const Datatype &datatype, int64_t offset, int64_t count, Visit &visit) {
    if (datatype.size == 0 || count == 0) return true;
    if (datatype.basic) return visit(*datatype.basic, offset, count);
    const TypeDefinition &definition = *datatype.definition;
    int64_t blocks = definition.blocks();
    for (; count > 0; --count, offset += datatype.extent) {
        for (int64_t i = 0; i < blocks; ++i) {
            TypeBlock block = definition.block(i);
            if (!each_element(*block.type, offset + block.offset, block.count, visit)) return false;
        }
    }
    return true;
}

// The number of whole elements of `datatype` in `bytes` bytes; abi::undefined if the last element is not
// whole.
inline int64_t whole_count(const Datatype &datatype, int64_t bytes) {
    if (datatype.size == 0) return bytes == 0 ? 0 : abi::undefined;
    return bytes % datatype.size == 0 ? bytes / datatype.size : abi::undefined;
}

// The number of basic elements of `datatype` in the first `bytes` bytes of its packed stream; abi::undefined
// if the bytes end inside one.
int64_t basic_elements(const Datatype &datatype, int64_t bytes);

// The bytes of the first `elements` basic elements of the packed stream.
int64_t bytes_of_elements(const Datatype &datatype, int64_t elements);

}  // namespace lanyard
