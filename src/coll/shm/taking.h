// Takes what other ranks have posted in one exchange (exchange_run.h): copies or combines data from their
// slots, from their memory (peer_memory.h) or from their stages (streams.h), as their slots state. One call
// takes at most about 1 MiB from memory and stages, and leaves the remaining data to the next call.
//
// Why taking from streams ends: a rank that copies from several streams visits them in turn, and does not
// wait for any of them while another stream has a piece. If the streams are combined, a rank needs piece k of
// all streams at the same time, and every owner can put piece k when piece k-1 has been taken from all.
// Thread rule: the owner of the engine.
// Tested by: tests/unit/coll/shm/posts_test.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "coll/shm/call_check.h"
#include "coll/shm/copy_choice.h"
#include "coll/shm/exchange_task.h"

namespace lanyard {

class Taking {
public:
    // The use of the node area from which data is taken.
    struct Use {
        const ExchangeTask &task;
        uint32_t generation;
        // This rank's contribution goes through the stage, so its own part is taken from its buffer.
        bool own_by_stage;
        bool aside;        // the result is first stored in Exchange::aside
        CallCheck &check;  // mismatches are recorded here
    };

    // Resets this object for a new use.
    void forget() {
        position_ = 0;
        combined_ = 0;
        read_so_far_.clear();
        directly_ = staged_ = {};
    }
    // To be called if the use is abandoned: requests no memory of other ranks any more.
    void abandon(const AreaTeam &) const;
    // Takes data. False: some data is not there yet, or is left for the next call.
    bool take(const Use &);
    // Did the latest call of take() take any data from memory or stages? Data from slots is not counted.
    bool got_on() const { return left_ < bytes_at_once; }

private:
    // What another rank has posted for this rank.
    struct Posted {
        const std::byte *here;  // in the slot; nullptr: the data is at `address` or in a stream
        uint64_t address;
        int64_t bytes;
        // The slot has a table of blocks, and `bytes` is the length of the block for this rank. false:
        // `bytes` is the length of the whole contribution.
        bool for_this_rank = false;
        const SlotPlace *staged = nullptr;  // the stream; nullptr: not in a stream
    };
    static constexpr int64_t taken_whole = -1;  // a value for a position
    static constexpr int64_t bytes_at_once = 1 << 20;

    static Posted posted_by(const Use &, int rank);
    static void leave_streams(const Use &);
    bool pieces_there(const Use &, int64_t number) const;

    bool copy_from(const Use &, int rank, const Buffer &into, int64_t &position);
    bool copy_from_all(const Use &);
    bool copy_directly(const Use &, int rank, uint64_t address, const Buffer &into, int64_t &position);
    bool copy_staged(const Use &, int rank, const SlotPlace &staged, const Buffer &into, int64_t &position);
    bool reduce(const Use &);
    bool reduce_pieces(const Use &, const Buffer &into);
    bool reduce_piece(const Use &, std::byte *into, int64_t bytes, int64_t staged_piece);
    bool read_whole(const ExchangeTask &, int rank, uint64_t address, std::byte *to, int64_t bytes);

    int64_t left_ = bytes_at_once;        // bytes that the latest call may still take
    int64_t position_ = 0;                // how much of the block, or of the result, has been taken
    std::vector<int64_t> position_from_;  // the same by rank, if a block is taken from each rank
    int combined_ = 0;                    // contributions that the current piece of the result has so far
    std::vector<std::byte> read_so_far_;  // the beginning of the next contribution's piece (read_whole())
    CopyMeter directly_, staged_;         // copies so far, while the rates are being learned
};

}  // namespace lanyard
