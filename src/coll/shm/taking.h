// How a rank takes what others have posted in one exchange (exchange_run.h): it copies or combines data from
// their slots, from their memory (peer_memory.h) or from the stage (streams.h), as their slots state. A call
// takes about 1 MiB and leaves the rest to the next call.
//
// Why it ends with streams: a rank that takes from several goes round them, and waits for none while another
// has something. If the pieces of all are combined, all have the same distance to go.
// Thread rule: the owner of the engine.
#pragma once

#include <cstdint>
#include <vector>

#include "coll/shm/call_check.h"
#include "coll/shm/copy_choice.h"
#include "coll/shm/exchange_task.h"

namespace lanyard {

class Taking {
public:
    // The use of the area from which data is taken.
    struct Use {
        const ExchangeTask &task;
        uint32_t generation;
        bool own_by_stage;  // this rank's own contribution goes by the stage, so it is taken from its buffer
        bool aside;         // the result first goes aside
        CallCheck &check;   // receives what does not match
    };

    // Begins again, whatever an earlier use has left.
    void forget() {
        position_ = 0;
        directly_ = staged_ = {};
    }
    // False: a part is not there yet, or is left for the next call.
    bool take(const Use &);
    // Did the latest call take something?
    bool got_on() const { return left_ < bytes_at_once; }

private:
    // What a rank has posted for this one.
    struct Posted {
        const std::byte *here;  // in its slot; nullptr: at the address
        uint64_t address;
        int64_t bytes;
        const SlotPlace *staged = nullptr;  // the stream, with this rank's part only
    };
    static constexpr int64_t taken_whole = -1;  // in place of a position
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

    int64_t left_ = bytes_at_once;        // bytes that the latest call may still take
    int64_t position_ = 0;                // in the block that is being taken
    std::vector<int64_t> position_from_;  // the same by rank, if blocks of all are taken
    CopyMeter directly_, staged_;         // so far, while the rates are being learned
};

}  // namespace lanyard
