// Sends messages among processes that are creating a communicator and so cannot use it yet. The functions
// block, and the calling thread must not own the engine.
// Tested by: tests/unit/comm/meeting_test.cc, tests/sim/communicators_test.cc.
#pragma once

#include <cstddef>
#include <vector>

#include "comm/context.h"
#include "comm/group.h"
#include "p2p/messenger.h"

namespace lanyard {

// A Meeting describes how the members of a group reach each other before they have a communicator. `peers`
// are the members, in the order of the new group. `names` has the source number that each member uses in
// messages of `context`: its rank in the parent communicator, or its serial.
struct Meeting {
    uint64_t context = 0;
    int32_t tag = 0;
    Peers peers;
    std::vector<int> names;
    int own = 0;  // the index of this process in the lists

    int size() const { return static_cast<int>(peers.size()); }
};

// name_of() and names_of() return the serials of processes as their source numbers. comes_first() states
// whether the first of two lists of peers precedes the second; all processes compute the same result.
int name_of(const Processes &processes, uint32_t peer);
std::vector<int> names_of(const Processes &processes, const Peers &peers);
bool comes_first(const Processes &processes, const Peers &first, const Peers &second);

// Copies the first member's `data` to all members, down a binomial tree. Called by all members. A member that
// has received no data, because of an error, sends an empty message to the members below it in the tree, so
// that they return an error too and none of them waits for ever.
Error spread(Messenger &messenger, const Meeting &meeting, void *data, size_t bytes);

}  // namespace lanyard
