// A Datatype is the object behind a datatype handle. It describes where the bytes of an element lie (MPI-5.0
// chapter 5). A datatype is reference-counted and, once created, immutable except for name, attributes and
// commit mark. Its layout is normalised when it is created (layout.h). A Cursor (cursor.h) walks `count`
// elements of a datatype; to resume, a cursor needs only a byte position in the packed stream. construct.h
// creates derived datatypes, and predefined.h finds the predefined ones.
// Thread rule: any thread that holds a reference may read, and may set the name. comm/attributes.h locks the
// attributes.
// Tested by: tests/unit/datatype/predefined_test.cc, tests/unit/datatype/layout_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/object.h"
#include "base/object_name.h"
#include "base/pool.h"
#include "datatype/generated/predefined.h"

namespace lanyard {

struct Layout;          // layout.h
struct Attributes;      // comm/attributes.h
struct TypeDefinition;  // definition.h: combiner and arguments, for get_envelope and get_contents

struct Datatype : Object {
    int64_t size = 0;  // the bytes of data in one element, without gaps
    int64_t lower_bound = 0;
    int64_t extent = 0;
    int64_t true_lower_bound = 0;
    int64_t true_extent = 0;
    // The number of basic elements in one element, as MPI_Get_elements counts (a pair counts as two).
    int64_t elements = 0;
    int32_t alignment = 1;
    int32_t depth = 0;  // nesting depth of datatypes within datatypes
    // True if `count` elements are one run of count * size bytes that begins at the buffer's address.
    bool contiguous = false;
    // True if MPI_Type_create_resized, or the constructor of a subarray or darray, has set the bounds of this
    // datatype or of a part. Then only bounds set in this way count.
    bool explicit_bounds = false;
    bool committed = false;
    // True if a large-count constructor created this datatype, so that MPI_Type_get_contents returns counts
    // separately.
    bool large_counts = false;
    // False if this is an optional type that this build does not have, or contains such a type. MPI_Type_size
    // then returns MPI_UNDEFINED.
    bool supported = true;
    const predefined::Type *basic = nullptr;  // for a predefined type, named or not: its description
    // The predefined operations that are allowed on this datatype, one bit for each
    // (predefined::operation_bit).
    uint64_t reductions = 0;
    // The offset from an element's address to the first byte of the element's packed stream.
    int64_t origin = 0;
    // The layout of one element, relative to `origin`; nullptr if size is 0.
    std::shared_ptr<const Layout> layout;
    std::shared_ptr<const TypeDefinition> definition;  // nullptr for a predefined datatype with a name
    ObjectName name;
    Attributes *attributes = nullptr;  // freed by the layer that creates attributes
};

// Typed memory: `count` elements of a datatype at an address. The data of every message is described by a
// Buffer.
struct Buffer {
    std::byte *base = nullptr;
    int64_t count = 0;
    const Datatype *datatype = nullptr;

    int64_t bytes() const { return count * datatype->size; }
    bool contiguous() const { return datatype->contiguous; }
};

// The pool of the datatypes that the program creates. Predefined datatypes are in a table (predefined.h).
ObjectPool<Datatype> &datatype_pool();

// Releases one reference. Releasing the last reference destroys the datatype, which in turn releases the
// datatypes from which it was made.
void release(Datatype &datatype);

}  // namespace lanyard
