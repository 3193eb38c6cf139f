// A group: an ordered set of processes. Immutable and counted, so any thread may read it. MPI-5.0 section 7.3.
// The algebra below works on bare lists of peers, in time n log n; groups are made from its results by make_group.
// Called by communicator creation and by the group functions of the API.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/abi_constants.h"
#include "base/error.h"
#include "base/object.h"

namespace lanyard {

struct Universe;       // universe.h
struct SessionTraits;  // session.h

using Peers = std::vector<uint32_t>;  // by rank: numbers of the runtime's peer table, each at most once

struct Group : Object {
    Peers peers;
    int rank = abi::undefined;  // of this process
    Universe *universe = nullptr;
    std::shared_ptr<const SessionTraits> session;  // of the session from which it comes; none in the world model
    int size() const { return static_cast<int>(peers.size()); }
};

// Where each peer of a list stands in it.
class Places {
public:
    explicit Places(const Peers &peers);
    int rank_of(uint32_t peer) const;  // or abi::undefined

private:
    std::vector<std::pair<uint32_t, int>> sorted_;
    bool counts_up_ = true;  // the list is 0, 1, 2, ...: nothing to sort or search
    uint32_t size_ = 0;
};

Peers union_of(const Peers &first, const Peers &second);         // all of first, then what second adds, in its order
Peers intersection_of(const Peers &first, const Peers &second);  // those of first that are in second
Peers difference_of(const Peers &first, const Peers &second);    // those of first that are not in second

// Those with the given ranks, in that order; and those without, in the order of `peers`. A rank outside or named twice
// is an Error of class `rank`.
Error include(const Peers &peers, const int *ranks, int count, Peers &result);
Error exclude(const Peers &peers, const int *ranks, int count, Peers &result);

// The ranks that `count` triplets (first, last, stride) name, for a group of `size`.
Error expand_ranges(const int (*ranges)[3], int count, int size, std::vector<int> &ranks);

// The ranks in `second` of the processes with `ranks` in `first`; MPI_PROC_NULL stays itself, the absent are undefined.
Error translate_ranks(const Peers &first, const int *ranks, int count, const Peers &second, int *translated);

int compare_peers(const Peers &first, const Peers &second);  // abi::ident, similar or unequal

// A group of `peers`, made from one of a session or of the world model, of which the program has no handle; the empty list gives the
// one predefined empty group. nullptr when memory is exhausted.
Group *make_group(Universe &universe, Peers peers, std::shared_ptr<const SessionTraits> session = {});
// The same for the program, a group made out of `of` or out of a session's.
Error give_group(const Group &of, Peers peers, Group **given);
Error give_group(Universe &universe, Peers peers, std::shared_ptr<const SessionTraits> session, Group **given);
void release_group(Group *group);  // a reference is given back; the last one frees. nullptr is allowed

}  // namespace lanyard
