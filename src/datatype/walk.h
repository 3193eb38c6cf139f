// Walks a part of the packed stream of a layout and passes the runs in that part to a Mover. Used by
// cursor.cc and other code that needs the runs of a datatype. A Mover has four functions:
//   bool run(std::byte *at, int64_t bytes)
//   bool strided(std::byte *at, int64_t stride, int64_t count, int64_t bytes)         count runs of `bytes`
//   bool indexed(std::byte *at, const int64_t *offsets, int64_t count, int64_t bytes)
//   bool records(std::byte *at, int64_t stride, int64_t count, const Layout &record)  count sequences of runs
// Each of these functions returns false to stop the walk. The recursion is as deep as the layout, which
// usually has few levels; the depth of datatypes (construct.cc) limits it. Stream positions are counted in
// bytes from the layout's beginning, with `from` < `to` <= size.
// Tested by: tests/unit/datatype/layout_test.cc.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "datatype/layout.h"

namespace lanyard {

template <class Mover>
bool walk_all(const Layout &layout, std::byte *at, Mover &mover);
template <class Mover>
bool walk(const Layout &layout, std::byte *at, int64_t from, int64_t to, Mover &mover);

template <class Mover>
bool walk_all_repeated(const Layout &child, std::byte *at, int64_t stride, int64_t count, Mover &mover) {
    if (child.is_run())
        return stride == child.size ? mover.run(at, count * stride)
                                    : mover.strided(at, stride, count, child.size);
    if (child.record) return mover.records(at, stride, count, child);
    for (; count > 0; --count, at += stride)
        if (!walk_all(child, at, mover)) return false;
    return true;
}

template <class Mover>
bool walk_all_indexed(const Layout &child, std::byte *at, const int64_t *offsets, int64_t count,
                      Mover &mover) {
    if (child.is_run()) return mover.indexed(at, offsets, count, child.size);
    for (int64_t i = 0; i < count; ++i)
        if (!walk_all(child, at + offsets[i], mover)) return false;
    return true;
}

// Walks a part of an endless sequence of copies of `child`.
template <class Mover>
bool walk_repeated(const Layout &child, std::byte *at, int64_t stride, int64_t from, int64_t to,
                   Mover &mover) {
    int64_t first = from / child.size, skip = from - first * child.size;
    int64_t last = to / child.size, rest = to - last * child.size;
    if (first == last) return walk(child, at + first * stride, skip, rest, mover);
    if (skip > 0) {
        if (!walk(child, at + first * stride, skip, child.size, mover)) return false;
        ++first;
    }
    if (first < last && !walk_all_repeated(child, at + first * stride, stride, last - first, mover))
        return false;
    return rest == 0 || walk(child, at + last * stride, 0, rest, mover);
}

template <class Mover>
bool walk_indexed(const Layout &child, std::byte *at, const int64_t *offsets, int64_t from, int64_t to,
                  Mover &mover) {
    int64_t first = from / child.size, skip = from - first * child.size;
    int64_t last = to / child.size, rest = to - last * child.size;
    if (first == last) return walk(child, at + offsets[first], skip, rest, mover);
    if (skip > 0) {
        if (!walk(child, at + offsets[first], skip, child.size, mover)) return false;
        ++first;
    }
    if (first < last && !walk_all_indexed(child, at, offsets + first, last - first, mover)) return false;
    return rest == 0 || walk(child, at + offsets[last], 0, rest, mover);
}

template <class Mover>
bool walk_sequence(const Layout &layout, std::byte *at, int64_t from, int64_t to, Mover &mover) {
    auto after = [](int64_t position, const LayoutPart &part) { return position < part.position; };
    auto part = std::upper_bound(layout.parts.begin(), layout.parts.end(), from, after) - 1;
    for (; part != layout.parts.end() && part->position < to; ++part) {
        int64_t begin = std::max<int64_t>(from - part->position, 0);
        int64_t end = std::min(to - part->position, part->bytes);
        bool go_on;
        if (!part->child) go_on = mover.run(at + part->offset + begin, end - begin);
        else if (begin == 0 && end == part->bytes) go_on = walk_all(*part->child, at + part->offset, mover);
        else go_on = walk(*part->child, at + part->offset, begin, end, mover);
        if (!go_on) return false;
    }
    return true;
}

template <class Mover>
bool walk(const Layout &layout, std::byte *at, int64_t from, int64_t to, Mover &mover) {
    switch (layout.shape) {
    case Layout::Shape::run: return mover.run(at + from, to - from);
    case Layout::Shape::strided: return walk_repeated(*layout.child, at, layout.stride, from, to, mover);
    case Layout::Shape::indexed:
        return walk_indexed(*layout.child, at, layout.offsets.data(), from, to, mover);
    case Layout::Shape::sequence: break;
    }
    return walk_sequence(layout, at, from, to, mover);
}

template <class Mover>
bool walk_all(const Layout &layout, std::byte *at, Mover &mover) {
    switch (layout.shape) {
    case Layout::Shape::run: return mover.run(at, layout.size);
    case Layout::Shape::strided:
        return walk_all_repeated(*layout.child, at, layout.stride, layout.count, mover);
    case Layout::Shape::indexed:
        return walk_all_indexed(*layout.child, at, layout.offsets.data(),
                                static_cast<int64_t>(layout.offsets.size()), mover);
    case Layout::Shape::sequence: break;
    }
    for (const LayoutPart &part : layout.parts) {
        bool go_on = part.child ? walk_all(*part.child, at + part.offset, mover)
                                : mover.run(at + part.offset, part.bytes);
        if (!go_on) return false;
    }
    return true;
}

}  // namespace lanyard
