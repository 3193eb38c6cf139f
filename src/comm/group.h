// A group: an ordered set of processes (MPI-5.0 section 7.3). Groups are immutable and count references, so
// any thread may read them. The set operations below work on plain lists of peers, in O(n log n); make_group
// makes groups of their results. Used when communicators are created, and by the group functions of the API.
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
    // traits of the session from which it is derived; none in the world model
    std::shared_ptr<const SessionTraits> session;
    int size() const { return static_cast<int>(peers.size()); }
};

// Maps the peers of a list to their ranks in it.
class Places {
public:
    explicit Places(const Peers &peers);
    int rank_of(uint32_t peer) const;  // or abi::undefined

private:
    std::vector<std::pair<uint32_t, int>> sorted_;
    bool counts_up_ = true;  // the list is 0, 1, 2, ..., so there is nothing to sort or search
    uint32_t size_ = 0;
};

// all of first, then those that only second has, in its order
Peers union_of(const Peers &first, const Peers &second);
Peers intersection_of(const Peers &first, const Peers &second);  // those of first that are in second
Peers difference_of(const Peers &first, const Peers &second);    // those of first that are not in second

// The peers with the given ranks, in the order of `ranks`; and the peers without them, in the order of
// `peers`. A rank that is outside the list or named twice is an Error of class `rank`.
Error include(const Peers &peers, const int *ranks, int count, Peers &result);
Error exclude(const Peers &peers, const int *ranks, int count, Peers &result);

// The ranks in `count` triplets (first, last, stride), for a group of `size`.
Error expand_ranges(const int (*ranges)[3], int count, int size, std::vector<int> &ranks);

// The ranks in `second` of the processes with `ranks` in `first`. MPI_PROC_NULL stays as it is; an absent
// process yields MPI_UNDEFINED.
Error translate_ranks(const Peers &first, const int *ranks, int count, const Peers &second, int *translated);

int compare_peers(const Peers &first, const Peers &second);  // abi::ident, similar or unequal

// Creates a group of `peers`, derived from a group of `session` or of the world model, without a handle for
// the program. For an empty list, returns the one predefined empty group. Returns nullptr if memory is
// exhausted.
Group *make_group(Universe &universe, Peers peers, std::shared_ptr<const SessionTraits> session = {});
// The same with a handle for the program. The group is derived from `of` or from a group of `session`.
Error give_group(const Group &of, Peers peers, Group **given);
Error give_group(Universe &universe, Peers peers, std::shared_ptr<const SessionTraits> session,
                 Group **given);
void release_group(Group *group);  // drops a reference; the last one frees the group; nullptr is allowed

}  // namespace lanyard
