// See reference.h.
#include "reference.h"

#include <algorithm>

#include "base/abi_constants.h"

namespace reference {

using lanyard::Datatype;
using lanyard::Integers;

int64_t Type::size() const {
    int64_t sum = 0;
    for (const Entry &entry : map) sum += entry.bytes;
    return sum;
}

int64_t Type::lower_bound() const {
    if (!lower_markers.empty()) return *std::min_element(lower_markers.begin(), lower_markers.end());
    return true_lower_bound();
}

int64_t Type::upper_bound() const {
    if (!upper_markers.empty()) return *std::max_element(upper_markers.begin(), upper_markers.end());
    int64_t alignment = 1;
    for (const Entry &entry : map) alignment = std::max(alignment, entry.alignment);
    int64_t span = true_extent();
    for (int64_t end : ends) span = std::max(span, end - true_lower_bound());
    while (span % alignment != 0) ++span;
    return true_lower_bound() + span;
}

int64_t Type::true_lower_bound() const {
    int64_t least = map.empty() ? 0 : map[0].offset;
    for (const Entry &entry : map) least = std::min(least, entry.offset);
    return least;
}

int64_t Type::true_extent() const {
    int64_t most = map.empty() ? 0 : map[0].offset;
    for (const Entry &entry : map) most = std::max(most, entry.offset + entry.bytes);
    return most - true_lower_bound();
}

void Type::add(const Type &other, int64_t count, int64_t offset) {
    for (int64_t i = 0; i < count; ++i) {
        int64_t at = offset + i * other.extent();
        for (Entry entry : other.map) map.push_back({at + entry.offset, entry.bytes, entry.alignment});
        if (other.upper_markers.empty() && !other.map.empty()) ends.push_back(at + other.upper_bound());
        for (int64_t marker : other.lower_markers) lower_markers.push_back(at + marker);
        for (int64_t marker : other.upper_markers) upper_markers.push_back(at + marker);
    }
}

Type basic(int abi_value) {
    struct Pair {
        int value, bytes, offset, alignment;
    };
    constexpr Pair pairs[] = {{lanyard::abi::type_double_int, 8, 8, 8},
                              {lanyard::abi::type_short_int, 2, 4, 4},
                              {lanyard::abi::type_2int, 4, 4, 4}};
    for (const Pair &pair : pairs)
        if (pair.value == abi_value)
            return {{{0, pair.bytes, pair.alignment}, {pair.offset, 4, 4}}, {}, {}, {}};
    const Datatype &type = *lanyard::predefined_datatype(abi_value);
    return {{{0, type.size, type.alignment}}, {}, {}, {}};
}

int64_t pick(Random &random, int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
}

namespace {

std::string list(const Integers &numbers) {
    std::string text = "[";
    for (int64_t number : numbers) text += (text.size() > 1 ? "," : "") + std::to_string(number);
    return text + "]";
}

Integers some(Random &random, int64_t count, int64_t least, int64_t most) {
    Integers numbers;
    for (int64_t i = 0; i < count; ++i) numbers.push_back(pick(random, least, most));
    return numbers;
}

// Displacements that mostly ascend without overlap. Now and then one is arbitrary.
Integers displacements(Random &random, const Integers &lengths, int64_t unit) {
    Integers places;
    int64_t next = pick(random, -3, 3) * unit;
    for (int64_t length : lengths) {
        places.push_back(pick(random, 0, 9) == 0 ? pick(random, -50, 50) * unit : next);
        next = places.back() + (length + pick(random, 0, 2)) * unit;
    }
    return places;
}

Made leaf(Random &random) {
    using namespace lanyard::abi;
    constexpr int values[] = {type_int, type_double, type_char, type_short, type_float, type_double_int,
                              type_short_int, type_int64_t, type_c_double_complex, type_byte, type_2int};
    int value = values[pick(random, 0, std::size(values) - 1)];
    Datatype *type = lanyard::predefined_datatype(value);
    return {basic(value), type, type->name.get()};
}

Made blocks(Random &random, const Made &old, bool in_bytes) {
    Integers lengths = some(random, pick(random, 0, 6), 0, 3);
    int64_t extent = old.expected.extent();
    Integers places = displacements(random, lengths, in_bytes ? std::max<int64_t>(extent, 1) : 1);
    Made made;
    for (size_t i = 0; i < lengths.size(); ++i)
        made.expected.add(old.expected, lengths[i], places[i] * (in_bytes ? 1 : extent));
    made.text =
        (in_bytes ? "hindexed(" : "indexed(") + list(lengths) + "," + list(places) + "," + old.text + ")";
    if (in_bytes) lanyard::make_hindexed(lengths, places, *old.real, &made.real).discard();
    else lanyard::make_indexed(lengths, places, *old.real, &made.real).discard();
    return made;
}

Made equal_blocks(Random &random, const Made &old, bool in_bytes) {
    int64_t length = pick(random, 0, 3), extent = old.expected.extent();
    Integers places = displacements(random, Integers(static_cast<size_t>(pick(random, 0, 6)), length),
                                    in_bytes ? std::max<int64_t>(extent, 1) : 1);
    Made made;
    for (int64_t place : places) made.expected.add(old.expected, length, place * (in_bytes ? 1 : extent));
    made.text = (in_bytes ? "hindexed_block(" : "indexed_block(") + std::to_string(length) + "," +
                list(places) + "," + old.text + ")";
    if (in_bytes) lanyard::make_hindexed_block(length, places, *old.real, &made.real).discard();
    else lanyard::make_indexed_block(length, places, *old.real, &made.real).discard();
    return made;
}

Made vector(Random &random, const Made &old, bool in_bytes) {
    int64_t count = pick(random, 0, 7), length = pick(random, 0, 4), stride = pick(random, -4, 9);
    if (in_bytes) stride *= pick(random, 1, 16);
    Made made;
    for (int64_t i = 0; i < count; ++i)
        made.expected.add(old.expected, length, i * stride * (in_bytes ? 1 : old.expected.extent()));
    made.text = (in_bytes ? "hvector(" : "vector(") + list({count, length, stride}) + "," + old.text + ")";
    auto make = in_bytes ? lanyard::make_hvector : lanyard::make_vector;
    make(count, length, stride, *old.real, &made.real).discard();
    return made;
}

Made structure(Random &random, int depth) {
    std::vector<Made> olds;
    Integers lengths = some(random, pick(random, 0, 4), 0, 3), places;
    std::vector<Datatype *> types;
    Made made;
    made.text = "struct(";
    int64_t next = pick(random, -20, 20);
    for (int64_t length : lengths) {
        olds.push_back(random_type(random, depth - 1));
        const Made &old = olds.back();
        places.push_back(next);
        types.push_back(old.real);
        made.expected.add(old.expected, length, next);
        made.text += old.text + "*" + std::to_string(length) + "@" + std::to_string(next) + ",";
        next += old.expected.extent() * length + pick(random, 0, 1) * pick(random, 0, 20);
    }
    made.text += ")";
    lanyard::make_struct(lengths, places, types, &made.real).discard();
    for (Made &old : olds)
        if (!old.real->predefined()) release(*old.real);
    return made;
}

Made resized(Random &random, const Made &old) {
    int64_t lower = pick(random, -20, 20), extent = pick(random, -10, 80);
    Made made{old.expected, nullptr, "resized(" + list({lower, extent}) + "," + old.text + ")"};
    made.expected.lower_markers = {lower};
    made.expected.upper_markers = {lower + extent};
    lanyard::make_resized(*old.real, lower, extent, &made.real).discard();
    return made;
}

Made contiguous(Random &random, const Made &old) {
    int64_t count = pick(random, 0, 6);
    Made made;
    made.expected.add(old.expected, count, 0);
    made.text = "contiguous(" + std::to_string(count) + "," + old.text + ")";
    lanyard::make_contiguous(count, *old.real, &made.real).discard();
    return made;
}

// Adds the elements of an array for whose indices `wanted` returns true, in the order of memory.
template <class Wanted>
void add_array(Made &made, const Made &old, const Integers &sizes, int order, Wanted wanted) {
    int64_t all = 1;
    for (int64_t size : sizes) all *= size;
    Integers indices(sizes.size());
    for (int64_t place = 0; place < all; ++place) {
        int64_t rest = place;
        for (size_t k = 0; k < sizes.size(); ++k) {
            size_t dimension = order == lanyard::abi::order_c ? sizes.size() - 1 - k : k;
            indices[dimension] = rest % sizes[dimension];
            rest /= sizes[dimension];
        }
        if (wanted(indices))
            made.expected.add({old.expected.map, {}, {}, {}}, 1, place * old.expected.extent());
    }
    made.expected.lower_markers = {0};
    made.expected.upper_markers = {all * old.expected.extent()};
}

Made subarray(Random &random, const Made &old) {
    int order = pick(random, 0, 1) ? lanyard::abi::order_c : lanyard::abi::order_fortran;
    Integers sizes = some(random, pick(random, 1, 3), 1, 4), subsizes, starts;
    for (int64_t size : sizes) {
        subsizes.push_back(pick(random, 1, size));
        starts.push_back(pick(random, 0, size - subsizes.back()));
    }
    Made made;
    add_array(made, old, sizes, order, [&](const Integers &indices) {
        for (size_t i = 0; i < indices.size(); ++i)
            if (indices[i] < starts[i] || indices[i] >= starts[i] + subsizes[i]) return false;
        return true;
    });
    made.text = "subarray(" + list(sizes) + "," + list(subsizes) + "," + list(starts) + "," +
                std::to_string(order) + "," + old.text + ")";
    lanyard::make_subarray(sizes, subsizes, starts, order, *old.real, &made.real).discard();
    return made;
}

Made distributed(Random &random, const Made &old) {
    lanyard::Distribution d{1, 0, some(random, pick(random, 1, 3), 1, 5), {}, {}, {}, 0};
    d.order = pick(random, 0, 1) ? lanyard::abi::order_c : lanyard::abi::order_fortran;
    Integers blocks;
    for (size_t i = 0; i < d.sizes.size(); ++i) {
        d.kinds.push_back(pick(random, 0, 1) ? lanyard::abi::distribute_block
                                             : lanyard::abi::distribute_cyclic);
        d.grid.push_back(static_cast<int>(pick(random, 1, 3)));
        d.processes *= d.grid[i];
        int64_t fair = (d.sizes[i] + d.grid[i] - 1) / d.grid[i];
        d.arguments.push_back(
            static_cast<int>(d.kinds[i] == lanyard::abi::distribute_block ? fair : pick(random, 1, 2)));
        blocks.push_back(d.arguments[i]);
    }
    d.rank = pick(random, 0, d.processes - 1);
    Made made;
    add_array(made, old, d.sizes, d.order, [&](const Integers &indices) {
        int64_t owner = 0;
        for (size_t i = 0; i < indices.size(); ++i)
            owner = owner * d.grid[i] + indices[i] / blocks[i] % d.grid[i];
        return owner == d.rank;
    });
    made.text = "darray(" + std::to_string(d.rank) + " of " + std::to_string(d.processes) + "," +
                list(d.sizes) + "," + list(blocks) + "," + std::to_string(d.order) + "," + old.text + ")";
    lanyard::make_darray(d, *old.real, &made.real).discard();
    return made;
}

Made duplicate(const Made &old) {
    Made made{old.expected, nullptr, "dup(" + old.text + ")"};
    lanyard::make_dup(*old.real, &made.real).discard();
    return made;
}

}  // namespace

Made random_type(Random &random, int depth) {
    int64_t kind = depth == 0 ? -1 : pick(random, 0, 12);
    if (kind < 0) return leaf(random);
    if (kind >= 11) return structure(random, depth);
    Made old = random_type(random, depth - 1);
    if (old.expected.map.size() > (kind == 8 || kind == 9 ? 100 : 2000)) return old;
    Made made;
    switch (kind) {
    case 0: made = contiguous(random, old); break;
    case 1:
    case 2: made = vector(random, old, kind == 1); break;
    case 3:
    case 4: made = blocks(random, old, kind == 3); break;
    case 5:
    case 6: made = equal_blocks(random, old, kind == 5); break;
    case 7: made = resized(random, old); break;
    case 8:
    case 9: made = kind == 8 ? subarray(random, old) : distributed(random, old); break;
    default: made = duplicate(old); break;
    }
    if (!old.real->predefined()) release(*old.real);
    return made;
}

std::vector<uint64_t> seeds(int cases) {
    const char *first = std::getenv("LANYARD_TEST_SEED");
    std::vector<uint64_t> all;
    for (int i = 0; i < cases; ++i)
        all.push_back((first ? std::strtoull(first, nullptr, 10) : 1000) + static_cast<uint64_t>(i));
    return all;
}

std::vector<int64_t> byte_offsets(const Type &type, int64_t count) {
    std::vector<int64_t> offsets;
    int64_t extent = type.extent();
    for (int64_t i = 0; i < count; ++i)
        for (const Entry &entry : type.map)
            for (int64_t b = 0; b < entry.bytes; ++b) offsets.push_back(i * extent + entry.offset + b);
    return offsets;
}

}  // namespace reference
