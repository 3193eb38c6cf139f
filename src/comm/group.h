// A group is an ordered set of processes (MPI-5.0 section 7.3). Groups are immutable and count references, so
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

using Peers = std::vector<uint32_t>;  // by rank: the peer's number in the peer table; no peer is listed twice

struct Group : Object {
    Peers peers;
    int rank = abi::undefined;  // the rank of this process; MPI_UNDEFINED if it is no member
    Universe *universe = nullptr;
    // The traits of the session from which the group is derived; nullptr in the world model.
    std::shared_ptr<const SessionTraits> session;
    int size() const { return static_cast<int>(peers.size()); }
};

// Maps the peers of a list to their ranks in it.
class Places {
public:
    explicit Places(const Peers &peers);
    int rank_of(uint32_t peer) const;  // abi::undefined if the peer is not in the list

private:
    std::vector<std::pair<uint32_t, int>> sorted_;
    bool counts_up_ = true;  // the list is 0, 1, 2, ..., so there is nothing to sort or search
    uint32_t size_ = 0;
};

// All peers of `first`, then those that are only in `second`, in the order of `second`.
Peers union_of(const Peers &first, const Peers &second);
Peers intersection_of(const Peers &first, const Peers &second);  // the peers of `first` that are in `second`
// The peers of `first` that are not in `second`.
Peers difference_of(const Peers &first, const Peers &second);

// include() returns the peers with the given ranks, in the order of `ranks`. exclude() returns all other
// peers, in the order of `peers`. If a rank is outside the list or named twice, they return an Error of class
// `rank`.
Error include(const Peers &peers, const int *ranks, int count, Peers &result);
Error exclude(const Peers &peers, const int *ranks, int count, Peers &result);

// Stores in `ranks` the ranks that `count` triplets (first, last, stride) name, in a group of `size` members.
// A rank that is named twice is listed twice. A triplet that begins beyond its end names no rank. The Error
// is of class `arg` for a stride of 0, and of class `rank` for a rank outside the group.
Error expand_ranges(const int (*ranges)[3], int count, int size, std::vector<int> &ranks);

// Translates `ranks`, which are ranks in `first`, to ranks in `second`. MPI_PROC_NULL stays as it is. A
// process that is not in `second` yields MPI_UNDEFINED. A rank outside `first` yields an Error of class
// `rank`.
Error translate_ranks(const Peers &first, const int *ranks, int count, const Peers &second, int *translated);

int compare_peers(const Peers &first, const Peers &second);  // abi::ident, similar or unequal

// Creates a group of `peers`, with one reference for the caller and without a handle for the program.
// `session`: the traits of the session to which the group belongs; nullptr in the world model. For an empty
// list, returns the predefined empty group. Returns nullptr if memory is exhausted.
Group *make_group(Universe &universe, Peers peers, std::shared_ptr<const SessionTraits> session = {});
// The same with a handle for the program. The first function takes the universe and the session from `of`.
Error give_group(const Group &of, Peers peers, Group **given);
Error give_group(Universe &universe, Peers peers, std::shared_ptr<const SessionTraits> session,
                 Group **given);
void release_group(Group *group);  // drops a reference; the last one frees the group; `group` may be nullptr

}  // namespace lanyard
