// Long contributions on their way through the stage (stage.h): what their owner puts in, piece after piece as far as there is room, and a taker's
// side of one. A stream is for all, or, where each takes another part of the data, there is one for each rank. Its owner is over when the last
// piece is in, whether or not that has been taken.
//
// Why it ends: room for the next piece comes as soon as those who take it have taken an earlier one. Room for the first pieces may wait for
// readers of another exchange: not for long, then an address is posted.
// Used by exchanges (own_post.h, taking.h); by the engine's owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "coll/shm/exchange_task.h"

namespace lanyard {

// What this rank puts into the stage in one exchange.
class Streams {
public:
    // Begins anew: gives up what one that was abandoned has left.
    void forget() {
        close();
        wanted_ = false;
    }
    // Decides whether what this rank posts goes by the stage.
    void plan(const ExchangeTask &);
    bool wanted() const { return wanted_; }
    // False: there is no room yet. After a while they are wanted no longer.
    bool allot(const ExchangeTask &);
    // Puts the first pieces, and writes into the slot where all will be.
    void post(const ExchangeTask &, uint32_t generation, Slot &);
    // Is something still to be put?
    bool open() const { return open_; }
    // A round or some through all streams, as far as there is room. False: nothing could be put.
    bool put(const ExchangeTask &task) { return put(task, entries_); }
    // Nothing more is put.
    void close() {
        if (!open_) return;
        open_ = false;
        stage_->give_up(first_, entries_ * count_);
    }

private:
    bool put(const ExchangeTask &, int rounds);
    void put_piece(const ExchangeTask &, const Block &, int64_t &position, int stream, const Stage::Readers &);
    int first_of(int stream) const { return (first_ + stream * entries_) % StageMemory::entries; }
    SlotPlace place_of(int stream, int64_t bytes) const;

    Stage *stage_ = nullptr;
    bool wanted_ = false, open_ = false;
    int first_ = 0, entries_ = 0, count_ = 0;  // entries of each
    int64_t piece_ = 0, longest_ = 0;
    uint32_t left_ = 0;         // the stamp before the first one
    uint64_t give_up_ns_ = 0;   // waiting for room; 0: not yet
    std::vector<int64_t> position_;  // by rank
};

// A stream from which this rank takes, as the slot of its owner tells of it.
class IncomingStream {
public:
    IncomingStream(const AreaTeam &place, int owner, const SlotPlace &told)
        : place_(place), owner_(owner), staged_(StagedPlace::in(told)), memory_(place.reach->at(staged_.offset * 64, StageMemory::bytes)) {}

    // nullptr: it is not there yet.
    const std::byte *piece(int64_t number) const {
        int entry = staged_.entry_of(number);
        bool there = number < staged_.filled || memory_.filled(entry).load(std::memory_order_acquire) == stamp_of(number);
        return there ? memory_.piece(entry) : nullptr;
    }
    void taken(int64_t number) const;
    // It is not what this rank expects: nobody need wait for it.
    void leave() const;

private:
    uint32_t stamp_of(int64_t number) const { return staged_.stamp + static_cast<uint32_t>(number); }

    const AreaTeam &place_;
    int owner_;
    StagedPlace staged_;
    StageMemory memory_;
};

}  // namespace lanyard
