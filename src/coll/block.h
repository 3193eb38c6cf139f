// Where the data of a schedule lies: offsets into three spaces whose addresses only the executor knows. A
// schedule can thus be made in advance, kept, and used with any buffers of the same shape.
// Thread rule: plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "datatype/datatype.h"

namespace lanyard {

// The datatype of packed bytes: contiguous, of size 1.
const Datatype &packed_bytes();

// The program's two buffers, and memory that belongs to the schedule.
enum class Space : uint8_t { send, receive, scratch };

// `count` elements of a datatype, at `offset` bytes from the beginning of a space.
struct Block {
    Space space = Space::scratch;
    int64_t offset = 0;
    int64_t count = 0;
    const Datatype *type = nullptr;

    int64_t bytes() const { return type ? count * type->size : 0; }
    bool empty() const { return bytes() == 0; }
    bool operator==(const Block &) const = default;
    Block part(int64_t first, int64_t elements) const {
        return {space, offset + first * type->extent, elements, type};
    }
    // A part of the bytes of the data. For contiguous blocks only.
    Block slice(int64_t first, int64_t length) const {
        return {space, offset + first, length, &packed_bytes()};
    }
};

// An array of counts or displacements in either width.
struct Numbers {
    const void *data = nullptr;
    int width = 8;  // bytes of one value: 4 or 8

    int64_t operator[](int64_t i) const {
        return width == 4 ? static_cast<const int32_t *>(data)[i] : static_cast<const int64_t *>(data)[i];
    }
};

// A buffer that is divided among the ranks of a team. The arrays are read only while the schedule is made.
class Division {
public:
    Division() = default;
    // `count` elements for each rank, one after the other (gather, allgather, ...).
    static Division even(Space space, int64_t count, const Datatype &type);
    // counts[r] elements, displaced by displacements[r] extents (the v forms).
    static Division uneven(Space space, Numbers counts, Numbers displacements, const Datatype &type);
    // counts[r] elements of types[r], displaced by displacements[r] bytes (the w form).
    static Division typed(Space space, Numbers counts, Numbers displacements, const Datatype *const *types);
    // The packed data of each rank of `like`, one after the other, from `offset` on.
    static Division packed(Space space, int64_t offset, const Division &like, int size);

    // The bytes of a contiguous block, divided at `starts` (with one more for the end), which count from the
    // block's beginning.
    static Division cut(const Block &all, std::vector<int64_t> starts);
    // A single block, the one of rank 0.
    static Division one(const Block &block);

    Block block(int rank) const;
    // Is it even and without gaps, so that neighbouring blocks form one block?
    bool dense() const { return kind_ == Kind::even && type_->contiguous; }
    // The blocks of the first `ranks` ranks as one. For even and packed divisions only.
    Block whole(int ranks) const;
    // The blocks of `ranks` ranks from `first` on as one. For dense divisions only.
    Block range(int first, int ranks) const {
        return {space_, offset_ + first * count_ * type_->extent, ranks * count_, type_};
    }

private:
    enum class Kind : uint8_t { even, uneven, typed, packed };
    Kind kind_ = Kind::even;
    Space space_ = Space::send;
    int64_t offset_ = 0;
    int64_t count_ = 0;
    const Datatype *type_ = nullptr;
    const Datatype *const *types_ = nullptr;
    Numbers counts_, displacements_;
    std::vector<int64_t> starts_;  // packed: where the data of each rank begins
};

}  // namespace lanyard
