// Datatypes: what a datatype handle stands for, and how its bytes are reached. A datatype is immutable once made (names
// and attributes apart) and counted; its layout is normalised once (layout.h), at construction or commit, and a Cursor
// (cursor.h) walks `count` of them: a byte position in the packed stream is all its resume state. MPI-5.0 chapter 5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/object.h"

namespace lanyard {

struct Layout;          // layout.h
struct Attributes;      // comm/attributes.h
struct TypeDefinition;  // definition.h: combiner and arguments, for get_envelope and get_contents

// The element kinds that reductions and external32 know; predefined.h maps each predefined datatype to one.
enum class ElementKind : uint8_t;

struct Datatype : Object {
    int64_t size = 0;  // bytes of data of one element
    int64_t lower_bound = 0;
    int64_t extent = 0;
    int64_t true_lower_bound = 0;
    int64_t true_extent = 0;
    bool contiguous = false;  // `count` elements are one run of count * size bytes beginning at the buffer's address
    bool committed = false;
    bool supported = true;  // an optional type that this build does not have is false, and its size is MPI_UNDEFINED
    ElementKind element{};  // of a predefined type
    std::shared_ptr<const Layout> layout;
    std::shared_ptr<const TypeDefinition> definition;
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

}  // namespace lanyard
