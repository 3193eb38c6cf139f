// A ShortUse is a use of the node area (exchange_run.h) by a collective of less than 1 KiB, prepared to be
// repeated. The places of the collective's blocks are looked up when the schedule is written, so that a call
// only has to copy. ExchangeRun::pass() carries out the use. If pass() would have to wait for a rank,
// pass_on() or ExchangeRun::advance() does what is left. A ShortUse is kept with its schedule (kept_plans.h).
// Thread rule: the owner of the engine.
// Tested by: tests/unit/coll/shm/node_area_test.cc, tests/unit/coll/moves_test.cc.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/copy.h"
#include "coll/schedule.h"
#include "coll/shm/exchange_task.h"
#include "coll/shm/node_area.h"
#include "datatype/kernels.h"

namespace lanyard {

class ShortUse {
public:
    // A contiguous block in one of the program's two buffers.
    struct BufferRange {
        int64_t offset = 0;
        uint16_t bytes = 0;
        bool in_receive = false;
        bool wanted = false;  // false: there is no such block
    };
    struct Buffers {
        std::byte *send, *receive;
        // Offsets may be absolute addresses (MPI_BOTTOM), for which pointer arithmetic within an object would
        // be undefined.
        std::byte *at(const BufferRange &range) const {
            auto base = reinterpret_cast<uintptr_t>(range.in_receive ? receive : send);
            return reinterpret_cast<std::byte *>(base + static_cast<uintptr_t>(range.offset));
        }
    };
    // The most bytes of a block. Longer blocks may be read in mapped memory (own_post.h).
    static constexpr int64_t most_bytes = smallest_slot_capacity - 1;

    // Prepares the use. False: the schedule is not one short use of the area. The schedule must live as long
    // as this object is used.
    bool prepare(const Schedule &schedule, const Team &team);
    void forget() { ready_ = false; }
    bool ready() const { return ready_; }
    const NodeArea &area() const { return area_; }

    // Does this rank post in this exchange? Data that only this rank reads need not be posted, unless the
    // result overwrites it.
    bool posts(const Exchange &exchange) const {
        return exchange.posts && (exchange.wakes != Exchange::Among::none || in_place_);
    }
    size_t bytes() const { return data_.bytes; }
    void post(const AreaTeam &place, uint32_t generation, const CollectiveCall &call,
              const Buffers &buffers) const {
        if (data_.bytes > Slot::in_first_line) return post_lines(place, generation, call, buffers);
        Slot &slot = place.area.slot(place.team.index, generation);
        slot.begin(generation, call.number, call.word, place.team.node_use.done_through, data_.bytes);
        copy(slot.short_payload, buffers.at(data_), data_.bytes);
        slot.end(generation);
    }
    // Copies the block that this rank keeps for itself.
    void keep_own(const Buffers &buffers) const {
        if (own_to_.wanted) copy(buffers.at(own_to_), buffers.at(own_from_), own_to_.bytes);
    }
    // Takes the data that this rank wants. False: some rank has not posted yet, or its post does not match
    // this call.
    bool take(const ExchangePlace &place, uint32_t generation, const CollectiveCall &own,
              const Buffers &buffers) const;
    // Have all ranks posted whose data this rank wants?
    bool all_posted(const ExchangePlace &place, uint32_t generation) const;

private:
    static void copy(std::byte *to, const std::byte *from, uint16_t bytes) {
        if (bytes <= 32) [[likely]] copy_few(to, from, bytes);
        else std::memcpy(to, from, bytes);
    }
    void post_lines(const AreaTeam &place, uint32_t generation, const CollectiveCall &call,
                    const Buffers &buffers) const;
    bool find_range(const Block &block, BufferRange &range) const;
    // Is the post of this use in the slot, with the same word? Different words may still agree; advance()
    // checks that.
    static bool belongs(const Slot &slot, uint32_t generation, const CollectiveCall &own) {
        return slot.generation.load(std::memory_order_acquire) == generation && slot.check() == own.word &&
               slot.number() == own.number;
    }
    bool copy_from(const ExchangePlace &place, int rank, uint32_t generation, const BufferRange &to,
                   const Buffers &buffers) const;
    bool reduce(const ExchangePlace &place, uint32_t generation, const CollectiveCall &own,
                const Buffers &buffers) const;

    bool ready_ = false;
    NodeArea area_;
    BufferRange data_, own_from_, own_to_, into_;
    std::vector<BufferRange> from_each_;  // where the block from each rank is put
    ReductionKernel kernel_ = nullptr;
    int64_t count_ = 0;      // number of elements to be combined
    bool in_place_ = false;  // the result overwrites the contribution
};

inline bool ShortUse::copy_from(const ExchangePlace &place, int rank, uint32_t generation,
                                const BufferRange &to, const Buffers &buffers) const {
    if (!to.wanted) return true;
    const Slot &slot = place.area.slot(rank, generation);
    auto bytes = static_cast<uint32_t>(to.bytes * place.exchange.parts);
    if (slot.bytes() != bytes) return false;
    const std::byte *from = slot.short_payload;
    if (bytes > sizeof slot.short_payload) [[unlikely]]
        from = place.area.payload(rank, generation, bytes);
    copy(buffers.at(to), from + place.exchange.skip, to.bytes);
    return true;
}

// Combines the contributions in rank order, beginning with the last rank: result = contribution(rank) op
// result. This rank's own contribution is read from its buffer where possible, not from its slot, because
// other processors may hold the slot's cache line.
inline bool ShortUse::reduce(const ExchangePlace &place, uint32_t generation, const CollectiveCall &own,
                             const Buffers &buffers) const {
    const Exchange &exchange = place.exchange;
    int last = exchange.wants == Exchange::Among::everyone ? place.team.size - 1 : exchange.last;
    std::byte *into = buffers.at(into_);
    for (int rank = std::max(last, exchange.wants == Exchange::Among::lower ? place.team.index - 1 : last);
         rank >= 0; --rank) {
        const Slot &slot = place.area.slot(rank, generation);
        const std::byte *from = place.area.payload(rank, generation, data_.bytes);
        if (rank == place.team.index) {
            if (!in_place_) from = buffers.at(data_);
        } else if (!belongs(slot, generation, own) || slot.bytes() != data_.bytes) {
            return false;
        }
        if (rank < exchange.last) kernel_(from + exchange.skip, into, count_);
        else if (rank == exchange.last) copy(into, from + exchange.skip, into_.bytes);
    }
    return true;
}

[[gnu::always_inline]] inline bool ShortUse::take(const ExchangePlace &place, uint32_t generation,
                                                  const CollectiveCall &own, const Buffers &buffers) const {
    const Exchange &exchange = place.exchange;
    if (exchange.take == Exchange::Take::reduce) return reduce(place, generation, own, buffers);
    auto take_from = [&](int rank, const BufferRange &to) __attribute__((always_inline)) {
        const Slot &slot = place.area.slot(rank, generation);
        return belongs(slot, generation, own) && copy_from(place, rank, generation, to, buffers);
    };
    if (exchange.wants == Exchange::Among::root) return take_from(exchange.root, into_);
    int last = exchange.wants == Exchange::Among::everyone ? place.team.size : 0;
    static constexpr BufferRange nowhere;
    for (int rank = 0; rank < last; ++rank) {
        const BufferRange &to =
            exchange.take == Exchange::Take::copy ? from_each_[static_cast<size_t>(rank)] : nowhere;
        if (rank == place.team.index && !to.wanted) continue;
        if (!take_from(rank, to)) return false;
    }
    return true;
}

inline bool ShortUse::all_posted(const ExchangePlace &place, uint32_t generation) const {
    const Exchange &exchange = place.exchange;
    if (exchange.wants == Exchange::Among::root) return place.area.has_posted(exchange.root, generation);
    int end = exchange.wants == Exchange::Among::everyone ? place.team.size
              : exchange.wants == Exchange::Among::lower  ? place.team.index
                                                          : 0;
    for (int rank = 0; rank < end; ++rank)
        if (rank != place.team.index && !place.area.has_posted(rank, generation)) return false;
    return true;
}

}  // namespace lanyard
