// Messages among processes that have no communicator in common yet: those who are making one.
#pragma once

#include <cstddef>
#include <vector>

#include "comm/context.h"
#include "comm/group.h"
#include "p2p/messenger.h"

namespace lanyard {

// How the members of a group find each other before they have a communicator: which peers they are, by the order in the
// new group, and what each calls itself in messages of `context` (its rank in the communicator used, or its serial).
struct Meeting {
    uint64_t context = 0;
    int32_t tag = 0;
    Peers peers;
    std::vector<int> names;
    int own = 0;  // place of this process in the lists

    int size() const { return static_cast<int>(peers.size()); }
};

// What processes call themselves there: their serials. And which of two lists of peers comes first, as all processes say alike.
int name_of(const Processes &processes, uint32_t peer);
std::vector<int> names_of(const Processes &processes, const Peers &peers);
bool comes_first(const Processes &processes, const Peers &first, const Peers &second);

// All have the first member's `data` afterwards; called by all, blocking, without the engine. Down a binomial tree: who has got nothing,
// because of an error, tells those below all the same, so that none waits for ever.
Error spread(Messenger &messenger, const Meeting &meeting, void *data, size_t bytes);

}  // namespace lanyard
