// Writes what this rank posts in one exchange (exchange_run.h) into its slot of the node area: one block that
// all ranks may take, or a block for each rank. Data that does not fit in the slot either stays in the
// program's buffer, and the slot contains its address, or goes through the stage (streams.h). Data that is
// not contiguous is packed before its address is posted. A slot is written again only when every rank is done
// with the slot's previous use.
//
// Data from 1 KiB on that fits in the slot stays in the program's buffer too if the other ranks can map this
// buffer (MPI_Alloc_mem): one copy is faster than two. A rank that does not wait for others in this exchange
// then has to wait for its readers. If they come late, the rank uses slots for a while, as the sender of
// messages does (p2p/mapped_offers.h).
// Thread rule: the owner of the engine.
// Tested by: tests/unit/coll/shm/posts_test.cc.
#pragma once

#include <cstdint>

#include "coll/shm/exchange_task.h"
#include "coll/shm/streams.h"
#include "coll/shm/uses_done.h"

namespace lanyard {

class OwnPost {
public:
    // Resets this object for a new use.
    void forget() {
        streams_.forget();
        at_address_ = false;
        mapped_since_ns_ = 0;
        bytes_here_ = not_counted;
    }
    // May the slot be written? Once a rank has had to wait, the answer stays false until there is room for
    // several uses, because each check of the other ranks' progress disturbs them. True: entries of the stage
    // are reserved if the contribution goes through it, and write() must follow.
    bool has_room(const ExchangeTask &, uint32_t generation, DoneWait &);
    void write(const ExchangeTask &, uint32_t generation, const CollectiveCall &);
    // Copies more of a contribution that goes through the stage. False: no piece could be put, or all pieces
    // are there.
    bool go_on(const ExchangeTask &task) { return streams_.open() && streams_.put(task); }
    void give_up() { streams_.close(); }

    bool by_stage() const { return streams_.wanted(); }
    bool is_whole() const { return !streams_.open(); }
    bool at_address() const { return at_address_; }  // other ranks read this rank's memory
    // Called when all ranks have read what is at_address().
    void readers_done(const ExchangeTask &task) {
        if (mapped_since_ns_) note_readers(task);
    }

private:
    static constexpr int64_t not_counted = -1;

    void count_bytes_here(const ExchangeTask &);
    bool is_read_mapped(const ExchangeTask &, int64_t total);
    void note_readers(const ExchangeTask &);
    // Both write the payload of the slot, and return what Slot::bytes() then has to be.
    uint32_t write_for_all(const ExchangeTask &, uint32_t generation);
    uint32_t write_for_each(const ExchangeTask &, uint32_t generation);

    bool at_address_ = false;
    bool all_here_ = false;             // everything to be posted goes into the slot
    uint64_t mapped_since_ns_ = 0;      // when short data was left in mapped memory, if readers may be late
    int64_t bytes_here_ = not_counted;  // bytes to be written into the slot
    Streams streams_;
};

}  // namespace lanyard
