// Merges and flattens layouts (layout.h).
#include "datatype/layout.h"

#include <algorithm>
#include <utility>

namespace lanyard {

namespace {

// A sequence of more than flat_parts parts, and a strided layout of more than flat_repeats runs, stay
// subtrees. Copying that many parts into the parent would cost memory. Descending into a subtree costs little
// compared with handling that many runs. Copies of anything but a run, and indexed layouts, stay subtrees
// too.
constexpr size_t flat_parts = 16;
constexpr int64_t flat_repeats = 4;

LayoutPointer make_run(int64_t bytes) {
    auto layout = std::make_shared<Layout>();
    layout->size = bytes;
    return layout;
}

// Appends pieces to a sequence. If a piece is small, its parts are appended; otherwise it is appended as a
// subtree. A run that continues the last run of the sequence is merged with it.
class Joiner {
public:
    void add(int64_t origin, const LayoutPointer &piece) {
        if (piece->is_run()) return add_run(origin, piece->size);
        if (piece->shape == Layout::Shape::sequence && piece->parts.size() <= flat_parts) {
            for (const LayoutPart &part : piece->parts) {
                if (part.child) add_tree(origin + part.offset, part.child);
                else add_run(origin + part.offset, part.bytes);
            }
            return;
        }
        if (piece->shape == Layout::Shape::strided && piece->child->is_run() &&
            piece->count <= flat_repeats) {
            for (int64_t i = 0; i < piece->count; ++i)
                add_run(origin + i * piece->stride, piece->child->size);
            return;
        }
        add_tree(origin, piece);
    }

    std::vector<LayoutPart> parts;
    int64_t size = 0;

private:
    void add_run(int64_t offset, int64_t bytes) {
        if (!parts.empty() && !parts.back().child && parts.back().offset + parts.back().bytes == offset)
            parts.back().bytes += bytes;
        else parts.push_back({offset, size, bytes, nullptr});
        size += bytes;
    }
    void add_tree(int64_t offset, const LayoutPointer &tree) {
        parts.push_back({offset, size, tree->size, tree});
        size += tree->size;
    }
};

bool all_alike(const std::vector<LayoutPart> &parts) {
    for (const LayoutPart &part : parts)
        if (part.child != parts[0].child || part.bytes != parts[0].bytes) return false;
    return true;
}

bool evenly_spaced(const std::vector<LayoutPart> &parts) {
    int64_t step = parts[1].offset - parts[0].offset;
    for (size_t i = 2; i < parts.size(); ++i)
        if (parts[i].offset - parts[i - 1].offset != step) return false;
    return true;
}

}  // namespace

PlacedLayout run_of(int64_t bytes) {
    if (bytes == 0) return {};
    return {0, make_run(bytes)};
}

PlacedLayout repeated(const PlacedLayout &element, int64_t count, int64_t stride) {
    if (count == 0 || !element.layout) return {};
    if (count == 1) return element;
    const Layout &child = *element.layout;
    if (child.is_run() && child.size == stride) return {element.origin, make_run(count * stride)};
    auto layout = std::make_shared<Layout>();
    layout->shape = Layout::Shape::strided;
    layout->size = count * child.size;
    if (child.shape == Layout::Shape::strided && stride == child.count * child.stride) {
        layout->count = count * child.count;
        layout->stride = child.stride;
        layout->child = child.child;
    } else {
        layout->count = count;
        layout->stride = stride;
        layout->child = element.layout;
    }
    return {element.origin, std::move(layout)};
}

PlacedLayout joined(const std::vector<PlacedLayout> &pieces) {
    Joiner joiner;
    for (const PlacedLayout &piece : pieces)
        if (piece.layout) joiner.add(piece.origin, piece.layout);
    std::vector<LayoutPart> &parts = joiner.parts;
    if (parts.empty()) return {};

    int64_t origin = parts[0].offset;
    LayoutPointer first = parts[0].child ? parts[0].child : make_run(parts[0].bytes);
    if (parts.size() == 1) return {origin, first};
    bool alike = all_alike(parts);
    if (alike && evenly_spaced(parts))
        return repeated({origin, first}, static_cast<int64_t>(parts.size()),
                        parts[1].offset - parts[0].offset);

    auto layout = std::make_shared<Layout>();
    layout->size = joiner.size;
    for (LayoutPart &part : parts) part.offset -= origin;
    if (alike) {
        layout->shape = Layout::Shape::indexed;
        layout->child = first;
        layout->offsets.reserve(parts.size());
        for (const LayoutPart &part : parts) layout->offsets.push_back(part.offset);
    } else {
        layout->shape = Layout::Shape::sequence;
        layout->record =
            std::all_of(parts.begin(), parts.end(), [](const LayoutPart &part) { return !part.child; });
        parts.shrink_to_fit();
        layout->parts = std::move(parts);
    }
    return {origin, std::move(layout)};
}

}  // namespace lanyard
