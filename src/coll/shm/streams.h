// Long contributions on their way through the stage (stage.h): the owner puts in piece after piece as there
// is room, and a taker's side of one stream. There is one stream for all takers or, if each takes a different
// part of the data, one for each rank. The owner is done when the last piece is in, whether it has been taken
// or not.
//
// Why it ends: there is room for the next piece as soon as the takers have taken an earlier one. Room for the
// first pieces may depend on readers of another exchange. The owner waits for it only for a short time and
// then posts an address.
// Used by own_post.h and taking.h.
// Thread rule: the owner of the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "coll/shm/exchange_task.h"

namespace lanyard {

// What this rank puts into the stage in one exchange.
class Streams {
public:
    // Begins again, and gives up what an abandoned use has left.
    void forget() {
        close();
        wanted_ = false;
    }
    // Decides whether what this rank posts goes by the stage.
    void plan(const ExchangeTask &);
    bool wanted() const { return wanted_; }
    // False: there is no room yet. After a while the streams are no longer wanted.
    bool allot(const ExchangeTask &);
    // Puts the first pieces, and writes into the slot where all pieces will be.
    void post(const ExchangeTask &, uint32_t generation, Slot &);
    // Is something still to be put?
    bool open() const { return open_; }
    // One or more rounds through all streams, as far as there is room. False: nothing could be put.
    bool put(const ExchangeTask &task) { return put(task, entries_); }
    // Nothing more will be put.
    void close() {
        if (!open_) return;
        open_ = false;
        stage_->give_up(first_, entries_ * count_);
    }

private:
    bool put(const ExchangeTask &, int rounds);
    void put_piece(const ExchangeTask &, const Block &, int64_t &position, int stream,
                   const Stage::Readers &);
    int first_of(int stream) const { return (first_ + stream * entries_) % StageMemory::entries; }
    SlotPlace place_of(int stream, int64_t bytes) const;

    Stage *stage_ = nullptr;
    bool wanted_ = false, open_ = false;
    int first_ = 0, entries_ = 0, count_ = 0;  // entries of each stream
    int64_t piece_ = 0, longest_ = 0;
    uint32_t left_ = 0;              // the stamp before the first one
    uint64_t give_up_ns_ = 0;        // the end of the wait for room; 0: not waiting yet
    std::vector<int64_t> position_;  // by rank
};

// A stream from which this rank takes, as the slot of its owner describes it.
class IncomingStream {
public:
    IncomingStream(const AreaTeam &place, int owner, const SlotPlace &told)
        : place_(place),
          owner_(owner),
          staged_(StagedPlace::in(told)),
          memory_(place.reach->at(staged_.offset * 64, StageMemory::bytes)) {}

    // nullptr: the piece is not there yet.
    const std::byte *piece(int64_t number) const {
        int entry = staged_.entry_of(number);
        bool there = number < staged_.filled ||
                     memory_.filled(entry).load(std::memory_order_acquire) == stamp_of(number);
        return there ? memory_.piece(entry) : nullptr;
    }
    void taken(int64_t number) const;
    // The stream is not what this rank expects. Its owner need not wait for this rank.
    void leave() const;

private:
    uint32_t stamp_of(int64_t number) const { return staged_.stamp + static_cast<uint32_t>(number); }

    const AreaTeam &place_;
    int owner_;
    StagedPlace staged_;
    StageMemory memory_;
};

}  // namespace lanyard
