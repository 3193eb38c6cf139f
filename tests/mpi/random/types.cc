// See types.h: signatures, maps and memory. constructors.cc builds random types.
#include "types.h"

#include <algorithm>
#include <cstdint>

namespace random_calls {

void Map::add(const Map &part, MPI_Aint at) {
    for (const Entry &entry : part.entries) entries.push_back({entry.basic, entry.at + at});
    if (!part.bounded && !part.entries.empty()) part_ends.push_back(part.low() + part.extent() + at);
    if (!part.bounded) return;
    MPI_Aint low = part.given_low + at, high = part.given_high + at;
    if (!bounded) set_bounds(low, high);
    else set_bounds(std::min(low, given_low), std::max(high, given_high));
}

MPI_Aint Map::true_low() const {
    MPI_Aint low = entries.front().at;
    for (const Entry &entry : entries) low = std::min(low, entry.at);
    return low;
}

MPI_Aint Map::true_high() const {
    MPI_Aint high = entries.front().at;
    for (const Entry &entry : entries) high = std::max(high, entry.at + entry.basic->bytes);
    return high;
}

MPI_Aint Map::alignment() const {
    int strictest = 1;
    for (const Entry &entry : entries) strictest = std::max(strictest, entry.basic->alignment);
    return strictest;
}

MPI_Aint Map::extent() const {
    if (bounded) return given_high - given_low;
    MPI_Aint high = true_high(), step = alignment();
    for (MPI_Aint end : part_ends) high = std::max(high, end);
    MPI_Aint bytes = high - true_low();
    return (bytes + step - 1) / step * step;
}

Type::~Type() {
    int integers, addresses, types, combiner;
    MPI_Type_get_envelope(handle, &integers, &addresses, &types, &combiner);
    MPI_Datatype made = handle;
    if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(&made);
}

// Draws from a few different elements only, so that a signature often has the same element several times in a
// row.
Signature random_signature(Random &random, int most) {
    static const Basic basics[] = {{MPI_BYTE, 1, 1},
                                   {MPI_CHAR, 1, 1},
                                   {MPI_SHORT, 2, alignof(short)},
                                   {MPI_INT, 4, alignof(int)},
                                   {MPI_UNSIGNED, 4, alignof(unsigned)},
                                   {MPI_LONG, sizeof(long), alignof(long)},
                                   {MPI_FLOAT, 4, alignof(float)},
                                   {MPI_DOUBLE, 8, alignof(double)},
                                   {MPI_INT64_T, 8, alignof(int64_t)},
                                   {MPI_C_DOUBLE_COMPLEX, 16, alignof(double)}};
    Signature signature;
    int repeats = between(random, 1, 4);
    int once = between(random, 1, std::max(1, most / repeats));
    for (int i = 0; i < once; ++i)
        signature.push_back(i && random.chance(60) ? signature.back()
                                                   : &basics[random.below(std::size(basics))]);
    for (int i = once; i < once * repeats; ++i) signature.push_back(signature[static_cast<size_t>(i - once)]);
    return signature;
}

void Content::write(std::byte *to, size_t element, int bytes) const {
    Random words(key * 0x9e3779b97f4a7c15u + element);
    for (int done = 0; done < bytes; done += 8) {
        uint64_t word = words.next();
        std::memcpy(to + done, &word, static_cast<size_t>(std::min(8, bytes - done)));
    }
}

Area::Area(Random &random, std::vector<Block> blocks) : blocks_(std::move(blocks)) {
    MPI_Aint low = 0, high = 0;
    for (const Block &block : blocks_) {
        if (block.count == 0) continue;
        const Map &map = block.type->map;
        low = std::min(low, block.at + map.true_low());
        high = std::max(high, block.at + map.true_high() + (block.count - 1) * map.extent());
    }
    origin_ = (-low + 15) / 16 * 16;  // a multiple of the alignment of the memory
    memory_.resize(static_cast<size_t>(origin_ + high) + 16);
    Random noise(random.next());
    for (std::byte &byte : memory_) byte = static_cast<std::byte>(noise.next());
    wanted_ = memory_;
}

void Area::write(std::vector<std::byte> &bytes, size_t number, Content content, size_t first,
                 int64_t basic_elements) {
    const Block &block = blocks_[number];
    const Map &map = block.type->map;
    for (int i = 0; i < block.count; ++i)
        for (const Entry &entry : map.entries) {
            if (basic_elements-- == 0) return;
            content.write(bytes.data() + origin_ + block.at + i * map.extent() + entry.at, first++,
                          entry.basic->bytes);
        }
}

void Area::put(size_t block, Content content, size_t first) {
    write(memory_, block, content, first, -1);
    write(wanted_, block, content, first, -1);
}

void Area::expect(size_t block, Content content, size_t first, int64_t basic_elements) {
    write(wanted_, block, content, first, basic_elements);
}

void Area::check_it(const std::string &what) const {
    if (memory_ == wanted_) return;
    size_t place = 0;
    while (memory_[place] == wanted_[place]) ++place;
    check(false, what + ": byte " + std::to_string(static_cast<MPI_Aint>(place) - origin_) +
                     " of the buffer is not what it must be");
}

}  // namespace random_calls
