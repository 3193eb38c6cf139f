// The normalised layout of a datatype: a small tree that describes where the bytes of the packed stream lie,
// in stream order. construct.cc builds it once with the three functions below. They merge neighbours and
// flatten small pieces, so equal layouts mostly have equal trees, whichever constructors were used. A layout
// is immutable, and datatypes share it.
// Invariants: a layout has at least one byte; its first byte lies at its own address 0; positions in `parts`
// ascend.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace lanyard {

struct Layout;
using LayoutPointer = std::shared_ptr<const Layout>;

struct LayoutPart {
    int64_t offset;    // from the layout's address
    int64_t position;  // in the layout's stream
    int64_t bytes;
    LayoutPointer child;  // nullptr: one run of `bytes`
};

struct Layout {
    enum class Shape : uint8_t {
        run,      // `size` contiguous bytes
        strided,  // `count` times `child`, one every `stride` bytes
        indexed,  // `child` at each of `offsets`
        sequence  // `parts`, one after another
    };
    Shape shape = Shape::run;
    int64_t size = 0;  // bytes of data
    int64_t count = 0;
    int64_t stride = 0;
    LayoutPointer child;
    std::vector<int64_t> offsets;
    std::vector<LayoutPart> parts;
    bool record = false;  // a sequence of runs only

    bool is_run() const { return shape == Shape::run; }
};

// A layout at an offset. A null layout has no bytes.
struct PlacedLayout {
    int64_t origin = 0;
    LayoutPointer layout;

    int64_t size() const { return layout ? layout->size : 0; }
};

PlacedLayout run_of(int64_t bytes);
// `count` times `element`, one every `stride` bytes.
PlacedLayout repeated(const PlacedLayout &element, int64_t count, int64_t stride);
// Pieces that follow each other in the stream, each at its own origin.
PlacedLayout joined(const std::vector<PlacedLayout> &pieces);

}  // namespace lanyard
