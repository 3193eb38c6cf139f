// The normalised layout of a datatype: a small tree that says where the bytes of the packed stream lie, in stream order.
// Built once by construct.cc with the three functions below, which merge neighbours and flatten small pieces, so that
// equal layouts mostly get equal trees whatever constructors were used. Immutable, shared between datatypes.
// Invariants: a layout holds at least one byte; its first byte lies at its own address 0; positions in `parts` ascend.
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
        run,      // `size` bytes side by side
        strided,  // `count` times `child`, `stride` bytes from one to the next
        indexed,  // `child` at each of `offsets`
        sequence  // `parts`, one after the other
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

// A layout at an offset. No layout means no bytes.
struct PlacedLayout {
    int64_t origin = 0;
    LayoutPointer layout;

    int64_t size() const { return layout ? layout->size : 0; }
};

PlacedLayout run_of(int64_t bytes);
// `count` times `element`, `stride` bytes apart.
PlacedLayout repeated(const PlacedLayout &element, int64_t count, int64_t stride);
// Pieces one after the other in the stream, each where its origin says.
PlacedLayout joined(const std::vector<PlacedLayout> &pieces);

}  // namespace lanyard
