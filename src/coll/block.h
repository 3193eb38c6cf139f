// Describes where the data of a schedule lies: in blocks at offsets in three spaces (the program's two
// buffers, and scratch memory). The addresses of the spaces are known only when the schedule runs. A schedule
// can thus be made in advance, kept, and used with any buffers of the same shape.
// Thread rule: values without a lock; a thread uses its own.
// Tested by: tests/unit/coll/moves_test.cc, tests/unit/coll/neighbors_test.cc.
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

// `count` elements of a datatype, `offset` bytes behind the beginning of a space.
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
    // `length` bytes of the block, from byte `first` on. For contiguous blocks only.
    Block slice(int64_t first, int64_t length) const {
        return {space, offset + first, length, &packed_bytes()};
    }
};

// An array of counts or displacements, as 32-bit or 64-bit integers.
struct Numbers {
    const void *data = nullptr;
    int width = 8;  // bytes of one value: 4 or 8

    int64_t operator[](int64_t i) const {
        return width == 4 ? static_cast<const int32_t *>(data)[i] : static_cast<const int64_t *>(data)[i];
    }
};

// A buffer that is divided into one block for each rank of a team. The program's arrays of counts and
// displacements are read only while the schedule is made.
class Division {
public:
    Division() = default;
    // `count` elements for each rank, with the blocks one after the other (gather, allgather, ...).
    static Division even(Space space, int64_t count, const Datatype &type);
    // counts[r] elements for rank r, displaced by displacements[r] extents (gatherv, alltoallv, ...).
    static Division uneven(Space space, Numbers counts, Numbers displacements, const Datatype &type);
    // counts[r] elements of types[r] for rank r, displaced by displacements[r] bytes (alltoallw).
    static Division typed(Space space, Numbers counts, Numbers displacements, const Datatype *const *types);
    // The packed data of the first `size` blocks of `like`, one after the other, from `offset` on.
    static Division packed(Space space, int64_t offset, const Division &like, int size);

    // The bytes of a contiguous block, divided at the offsets `starts` from the block's beginning. The last
    // entry of `starts` is the end of the last part.
    static Division cut(const Block &all, std::vector<int64_t> starts);
    // A single block, for rank 0.
    static Division one(const Block &block);

    Block block(int rank) const;
    // Is the division even and without gaps, so that neighbouring blocks form one block?
    bool dense() const { return kind_ == Kind::even && type_->contiguous; }
    // The blocks of the first `ranks` ranks, as one block. For even and packed divisions only.
    Block whole(int ranks) const;
    // The blocks of `ranks` ranks, from rank `first` on, as one block. For dense divisions only.
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
    std::vector<int64_t> starts_;  // packed: where the data of each rank begins, relative to offset_
};

}  // namespace lanyard
