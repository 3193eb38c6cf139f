// A Layout is the normalised layout of a datatype: a small tree that describes where the bytes of the packed
// stream lie, in stream order. The tree is built with the three functions below when the datatype is created.
// These functions merge neighbouring pieces and flatten small pieces, so equal layouts mostly have equal
// trees, whichever constructors the program has used. A layout is immutable and may be shared by several
// datatypes.
// Invariants: a layout has at least one byte; offsets are relative to the byte that is first in its stream,
// and may be negative; positions in `parts` ascend.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace lanyard {

struct Layout;
using LayoutPointer = std::shared_ptr<const Layout>;

struct LayoutPart {
    int64_t offset;    // the distance from the first byte of the layout's stream
    int64_t position;  // the bytes before the part in the layout's stream
    int64_t bytes;
    LayoutPointer child;  // nullptr if the part is one run of `bytes` bytes
};

struct Layout {
    enum class Shape : uint8_t {
        run,      // `size` contiguous bytes
        strided,  // `count` copies of `child`, `stride` bytes apart
        indexed,  // a copy of `child` at each of `offsets`
        sequence  // the different `parts`, in stream order
    };
    Shape shape = Shape::run;
    int64_t size = 0;  // the bytes of data
    int64_t count = 0;
    int64_t stride = 0;
    LayoutPointer child;
    std::vector<int64_t> offsets;
    std::vector<LayoutPart> parts;
    bool record = false;  // this is a sequence whose parts are all runs

    bool is_run() const { return shape == Shape::run; }
};

// A layout whose stream begins with the byte at the offset `origin`. If `layout` is null, there are no bytes.
struct PlacedLayout {
    int64_t origin = 0;
    LayoutPointer layout;

    int64_t size() const { return layout ? layout->size : 0; }
};

// `bytes` contiguous bytes.
PlacedLayout run_of(int64_t bytes);
// `count` copies of `element`, `stride` bytes apart.
PlacedLayout repeated(const PlacedLayout &element, int64_t count, int64_t stride);
// Pieces that follow each other in the stream, each at its own origin.
PlacedLayout joined(const std::vector<PlacedLayout> &pieces);

}  // namespace lanyard
