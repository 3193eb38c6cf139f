// Messages among processes that have no communicator in common yet because they are creating one. Blocking,
// called without the engine.
#pragma once

#include <cstddef>
#include <vector>

#include "comm/context.h"
#include "comm/group.h"
#include "p2p/messenger.h"

namespace lanyard {

// How the members of a group reach each other before they have a communicator: their peers, in the order of
// the new group, and the source number that each of them uses in messages of `context` (its rank in the
// parent communicator, or its serial).
struct Meeting {
    uint64_t context = 0;
    int32_t tag = 0;
    Peers peers;
    std::vector<int> names;
    int own = 0;  // the index of this process in the lists

    int size() const { return static_cast<int>(peers.size()); }
};

// The source numbers of processes in such messages: their serials. comes_first states which of two lists of
// peers comes first; all processes compute the same.
int name_of(const Processes &processes, uint32_t peer);
std::vector<int> names_of(const Processes &processes, const Peers &peers);
bool comes_first(const Processes &processes, const Peers &first, const Peers &second);

// Copies the first member's `data` to all members, down a binomial tree. Called by all members. A member that
// has received nothing, because of an error, still sends to those below it, so that none waits forever.
Error spread(Messenger &messenger, const Meeting &meeting, void *data, size_t bytes);

}  // namespace lanyard
