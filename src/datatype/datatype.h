// Datatypes: what a datatype handle stands for, and how its bytes are reached (MPI-5.0 chapter 5). A datatype
// is immutable once created (except for names, attributes and the commit mark) and reference-counted. Its
// layout is normalised once (layout.h), when it is created. A Cursor (cursor.h) walks `count` of them; to
// resume, it needs only a byte position in the packed stream. construct.h creates datatypes, and predefined.h
// finds the predefined ones.
// Thread rule: any thread that holds a reference may read. Names and attributes are not locked here.
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
    int32_t depth = 0;  // nesting depth of datatypes within datatypes
    // `count` elements are one run of count * size bytes that begins at the buffer's address.
    bool contiguous = false;
    // Bounds were set by MPI_Type_create_resized, here or in a part. Only such bounds count then.
    bool explicit_bounds = false;
    bool committed = false;
    // Made by a large-count constructor, so MPI_Type_get_contents returns counts separately.
    bool large_counts = false;
    // False: an optional type that this build does not have, or made of one. MPI_Type_size returns
    // MPI_UNDEFINED for it.
    bool supported = true;
    const predefined::Type *basic = nullptr;  // for a predefined type, named or not: its elements
    // The predefined operations that are allowed on it, one bit for each (predefined::operation_bit).
    uint64_t reductions = 0;
    // Offset of the first byte of the packed stream from the element's address.
    int64_t origin = 0;
    // Layout of one element, from `origin` on; nullptr if size is 0.
    std::shared_ptr<const Layout> layout;
    std::shared_ptr<const TypeDefinition> definition;  // nullptr if predefined and named
    std::string name;
    Attributes *attributes = nullptr;  // owned; freed by the layer that creates them
};

// Typed memory: `count` elements of a datatype at an address. It describes the data of every transfer.
struct Buffer {
    std::byte *base = nullptr;
    int64_t count = 0;
    const Datatype *datatype = nullptr;

    int64_t bytes() const { return count * datatype->size; }
    bool contiguous() const { return datatype->contiguous; }
};

// The pool of the datatypes that the program makes. Predefined ones are in their own table (predefined.h).
ObjectPool<Datatype> &datatype_pool();

// Ends one use. The last release destroys the datatype, and with it its uses of the datatypes from which it
// was made.
void release(Datatype &datatype);

}  // namespace lanyard
