// What this rank posts in one exchange (exchange_run.h), in its own slot of the node area: one block that all
// may take, or one for each. Data that does not fit stays in the program's buffer, and the slot has its
// address (it is packed first if it is not contiguous), or it goes by the stage (streams.h). A slot is
// written again only when every rank is done with its previous use.
// Thread rule: the owner of the engine.
#pragma once

#include <cstdint>

#include "coll/shm/exchange_task.h"
#include "coll/shm/streams.h"
#include "coll/shm/uses_done.h"

namespace lanyard {

class OwnPost {
public:
    // Begins again, whatever an earlier use has left.
    void forget() {
        streams_.forget();
        at_address_ = false;
        bytes_here_ = not_counted;
    }
    // May the slot be written? A rank that must wait does so until there is room for more than one use,
    // because each check of the others' progress disturbs them.
    bool has_room(const ExchangeTask &, uint32_t generation, DoneWait &);
    void write(const ExchangeTask &, uint32_t generation, const CollectiveCall &);
    // Continues what goes by the stage. False: nothing could be put.
    bool go_on(const ExchangeTask &task) { return streams_.open() && streams_.put(task); }
    void give_up() { streams_.close(); }

    bool by_stage() const { return streams_.wanted(); }
    bool is_whole() const { return !streams_.open(); }
    bool at_address() const { return at_address_; }  // others read this rank's memory

private:
    static constexpr int64_t not_counted = -1;

    void count_bytes_here(const ExchangeTask &);
    void write_for_all(const ExchangeTask &, uint32_t generation, Slot &);
    void write_for_each(const ExchangeTask &, uint32_t generation, Slot &);

    bool at_address_ = false;
    bool all_here_ = false;             // everything to post fits the slot
    int64_t bytes_here_ = not_counted;  // bytes written into the slot
    Streams streams_;
};

}  // namespace lanyard
