// How a rank takes what others have posted in one exchange (exchange_run.h): copies it or combines it, from their slots, from their memory
// (peer_memory.h) or from the stage (streams.h), as their slots tell. A call takes a MiB or so and leaves the rest to the next one.
//
// Why it ends with streams: who takes from several goes round, and waits for none while another has something; where the pieces of all are
// combined, all have the same way to go.
// By the engine's owner.
#pragma once

#include <cstdint>
#include <vector>

#include "coll/shm/call_check.h"
#include "coll/shm/copy_choice.h"
#include "coll/shm/exchange_task.h"

namespace lanyard {

class Taking {
public:
    // The use of the area from which is taken.
    struct Use {
        const ExchangeTask &task;
        uint32_t generation;
        bool own_by_stage;    // this rank's own contribution goes by the stage: it takes that from its memory
        bool aside;           // the result goes aside at first
        CallCheck &check;     // is told what does not fit
    };

    // Begins anew, whatever an earlier use has left.
    void forget() {
        position_ = 0;
        directly_ = staged_ = {};
    }
    // False when a part is not there yet, or left for the next call.
    bool take(const Use &);
    // Did the latest call take something?
    bool got_on() const { return left_ < bytes_at_once; }

private:
    // What a rank has for this one.
    struct Posted {
        const std::byte *here;  // in its slot; nullptr: at the address
        uint64_t address;
        int64_t bytes;
        const SlotPlace *staged = nullptr;  // its part alone
    };
    static constexpr int64_t taken_whole = -1;  // instead of a position
    static constexpr int64_t bytes_at_once = 1 << 20;

    static Posted posted_by(const Use &, int rank);
    static void leave_streams(const Use &);
    static bool pieces_there(const Use &, int64_t number);

    bool copy_from(const Use &, int rank, const Buffer &into, int64_t &position);
    bool copy_from_all(const Use &);
    bool copy_directly(const Use &, int rank, uint64_t address, const Buffer &into, int64_t &position);
    bool copy_staged(const Use &, int rank, const SlotPlace &staged, const Buffer &into, int64_t &position);
    bool reduce(const Use &);
    bool reduce_pieces(const Use &, const Buffer &into);
    void reduce_piece(const Use &, std::byte *into, int64_t bytes, int64_t staged_piece) const;

    int64_t left_ = bytes_at_once;  // of the latest call's bytes
    int64_t position_ = 0;          // in the block that is being taken
    std::vector<int64_t> position_from_;  // the same by rank, where blocks of all are taken
    CopyMeter directly_, staged_;         // so far, while that is learned
};

}  // namespace lanyard
