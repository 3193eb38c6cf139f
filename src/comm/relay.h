// The messages of communicator creation: up and down a binomial tree over the members of the communicator being made.
//
//   gather   each member collects what the members below it know, then sends all of it to the member above
//   spread   each member receives from above, then sends on to those below
//
// Both are a Relay: receive everything, then send everything. It never blocks and completes once, so that MPI_Comm_idup
// is the same code as MPI_Comm_dup. P - 1 messages each way, log2 P deep: on few processors it is the number that counts.
// Thread rule: started by the engine's owner; the rest happens in the engine. Must not move or vanish before completion.
#pragma once

#include <cstddef>
#include <deque>

#include "comm/context.h"
#include "comm/group.h"
#include "p2p/messenger.h"

namespace lanyard {

// How the members of a group find each other before they have a communicator: which peers they are, by the order in the
// new group, and what each calls itself in messages of `context` (its rank in the communicator used, or its peer number).
struct Meeting {
    uint64_t context = 0;
    int32_t tag = 0;
    Peers peers;
    std::vector<int> names;
    int own = 0;  // place of this process in the lists

    int size() const { return static_cast<int>(peers.size()); }
};

class Relay {
public:
    explicit Relay(Messenger &messenger) : messenger_(messenger) { task_.relay = this; }
    Relay(const Relay &) = delete;
    Relay &operator=(const Relay &) = delete;

    // Describes the messages; `data` stays valid until completion. The first member is the root of the tree.
    void plan_spread(const Meeting &meeting, void *data, size_t bytes);
    // `data` holds one entry for each member, in order: own entry filled in by all; the root's is complete at the end.
    void plan_gather(const Meeting &meeting, void *data, size_t entry_bytes);
    void start();  // [owner]

    Completion completion;
    Error error;            // valid once complete
    void *owner = nullptr;  // of whoever is continued by completion.then
    static Relay &of(Completion &completion);

private:
    struct Step : Transfer {
        Relay *relay = nullptr;
    };
    struct SendTask : Task {
        Relay *relay = nullptr;
    };

    void add(std::deque<Step> &steps, const Meeting &meeting, int other, void *data, size_t bytes);
    void start_sends();
    void step_done(Step &step);
    static void told(Completion &completion);
    static int send_now(Task &task);

    Messenger &messenger_;
    std::deque<Step> receives_, sends_;
    size_t open_ = 0;  // of the phase under way
    bool sending_ = false;
    SendTask task_;
};

// Runs a planned relay to its end; takes the engine for it. What went wrong comes back.
Error run(Relay &relay, Engine &engine);

}  // namespace lanyard
