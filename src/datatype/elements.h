// Visits and counts the basic elements of datatypes. each_element() visits them in stream order with their
// offsets, for external32 and type signatures. The other functions do the arithmetic of MPI_Get_count,
// MPI_Get_elements and MPI_Status_set_elements.
// Tested by: tests/unit/datatype/layout_test.cc, tests/unit/datatype/predefined_test.cc.
#pragma once

#include <cstdint>

#include "base/abi_constants.h"
#include "datatype/definition.h"

namespace lanyard {

// Visits the basic elements of `count` elements of `datatype` that begin at `offset`. Each call visit(type,
// offset, count) stands for `count` basic elements of `type` from `offset` on, one extent apart. A pair is
// visited as one element of its predefined type. If visit returns false, each_element() stops and returns
// false.
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

// The number of basic elements in the first `bytes` bytes of the packed stream of `datatype`; abi::undefined
// if the bytes end inside a basic element. In this function and the next, a pair counts as two elements.
int64_t basic_elements(const Datatype &datatype, int64_t bytes);

// The number of bytes that the first `elements` basic elements of the packed stream have; 0 if the datatype
// has no elements.
int64_t bytes_of_elements(const Datatype &datatype, int64_t elements);

}  // namespace lanyard
