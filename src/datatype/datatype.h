// Datatypes: what a datatype handle stands for, and how its bytes are reached. A datatype is immutable once made (names,
// attributes and the commit mark apart) and counted; its layout is normalised once (layout.h), when it is made, and a
// Cursor (cursor.h) walks `count` of them: a byte position in the packed stream is all its resume state.
// Made by construct.h, predefined ones found by predefined.h. MPI-5.0 chapter 5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/object.h"
#include "base/pool.h"
#include "datatype/generated/predefined.h"

namespace lanyard {

struct Layout;          // layout.h
struct Attributes;      // comm/attributes.h
struct TypeDefinition;  // definition.h: combiner and arguments, for get_envelope and get_contents

struct Datatype : Object {
    int64_t size = 0;  // bytes of data of one element
    int64_t lower_bound = 0;
    int64_t extent = 0;
    int64_t true_lower_bound = 0;
    int64_t true_extent = 0;
    int64_t elements = 0;  // basic elements in one (a pair is two), as MPI_Get_elements counts them
    int32_t alignment = 1;
    int32_t depth = 0;  // of datatypes within datatypes
    bool contiguous = false;       // `count` elements are one run of count * size bytes beginning at the buffer's address
    bool explicit_bounds = false;  // bounds were set by MPI_Type_create_resized, here or inside (they then rule alone)
    bool committed = false;
    bool large_counts = false;  // made by a large-count constructor; MPI_Type_get_contents tells counts apart then
    bool supported = true;  // false: an optional type that this build does not have, or made of one; MPI_Type_size gives MPI_UNDEFINED
    const predefined::Type *basic = nullptr;  // of a predefined type, named or not: its elements
    uint64_t reductions = 0;                  // which predefined operations are allowed on it: a bit for each (predefined::operation_bit)
    int64_t origin = 0;                       // where the first byte of the packed stream lies, from the element's address
    std::shared_ptr<const Layout> layout;     // of one element, from `origin` on; nullptr when size is 0
    std::shared_ptr<const TypeDefinition> definition;  // nullptr when predefined and named
    std::string name;
    Attributes *attributes = nullptr;  // owned; freed by the layer that makes them
};

// Typed memory: `count` elements of a datatype at an address. What every transfer is described by.
struct Buffer {
    std::byte *base = nullptr;
    int64_t count = 0;
    const Datatype *datatype = nullptr;

    int64_t bytes() const { return count * datatype->size; }
    bool contiguous() const { return datatype->contiguous; }
};

// Datatypes that the program makes live here; predefined ones in their own table (predefined.h).
ObjectPool<Datatype> &datatype_pool();

// Ends one use. The last one destroys a datatype, and with it its uses of the datatypes it was made from.
void release(Datatype &datatype);

}  // namespace lanyard
