// See group.h.
#include "comm/group.h"

#include <algorithm>

#include "comm/universe.h"

namespace lanyard {

Places::Places(const Peers &peers) : size_(static_cast<uint32_t>(peers.size())) {
    for (uint32_t rank = 0; rank < size_ && counts_up_; ++rank) counts_up_ = peers[rank] == rank;
    if (counts_up_) return;
    sorted_.reserve(size_);
    for (uint32_t rank = 0; rank < size_; ++rank) sorted_.emplace_back(peers[rank], static_cast<int>(rank));
    std::sort(sorted_.begin(), sorted_.end());
}

int Places::rank_of(uint32_t peer) const {
    if (counts_up_) return peer < size_ ? static_cast<int>(peer) : abi::undefined;
    auto place = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair{peer, 0});
    return place != sorted_.end() && place->first == peer ? place->second : abi::undefined;
}

Peers union_of(const Peers &first, const Peers &second) {
    Peers added = difference_of(second, first);
    Peers result = first;
    result.insert(result.end(), added.begin(), added.end());
    return result;
}

Peers intersection_of(const Peers &first, const Peers &second) {
    Places places(second);
    Peers result;
    for (uint32_t peer : first)
        if (places.rank_of(peer) != abi::undefined) result.push_back(peer);
    return result;
}

Peers difference_of(const Peers &first, const Peers &second) {
    Places places(second);
    Peers result;
    for (uint32_t peer : first)
        if (places.rank_of(peer) == abi::undefined) result.push_back(peer);
    return result;
}

namespace {

std::string ranks_there_are(size_t size) {
    if (size == 0) return "it is empty";
    return size == 1 ? "its only rank is 0" : "it has ranks 0 to " + std::to_string(size - 1);
}

// Marks each of `ranks` in `named`. Error: a rank is outside the group, or is repeated.
Error mark(const Peers &peers, const int *ranks, int count, std::vector<bool> &named) {
    named.assign(peers.size(), false);
    for (int i = 0; i < count; ++i) {
        int rank = ranks[i];
        if (rank < 0 || static_cast<size_t>(rank) >= peers.size())
            return {ErrorClass::rank, "rank " + std::to_string(rank) + ", entry " + std::to_string(i) +
                                          " of the list, is not in the group; " +
                                          ranks_there_are(peers.size())};
        if (named[static_cast<size_t>(rank)])
            return {ErrorClass::rank, "rank " + std::to_string(rank) +
                                          " is in the list twice, the second time as entry " +
                                          std::to_string(i) + "; a group has each process once"};
        named[static_cast<size_t>(rank)] = true;
    }
    return {};
}

}  // namespace

Error include(const Peers &peers, const int *ranks, int count, Peers &result) {
    std::vector<bool> named;
    if (Error error = mark(peers, ranks, count, named)) return error;
    result.clear();
    result.reserve(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) result.push_back(peers[static_cast<size_t>(ranks[i])]);
    return {};
}

Error exclude(const Peers &peers, const int *ranks, int count, Peers &result) {
    std::vector<bool> named;
    if (Error error = mark(peers, ranks, count, named)) return error;
    result.clear();
    for (size_t rank = 0; rank < peers.size(); ++rank)
        if (!named[rank]) result.push_back(peers[rank]);
    return {};
}

Error expand_ranges(const int (*ranges)[3], int count, int size, std::vector<int> &ranks) {
    ranks.clear();
    for (int i = 0; i < count; ++i) {
        int64_t first = ranges[i][0], last = ranges[i][1], stride = ranges[i][2];
        std::string range = "range " + std::to_string(i) + " (" + std::to_string(first) + " to " +
                            std::to_string(last) + " by " + std::to_string(stride) + ")";
        if (stride == 0) return {ErrorClass::arg, range + " has stride 0"};
        int64_t steps = (last - first) / stride;
        if ((last - first) % stride != 0 && ((last - first) < 0) != (stride < 0)) steps = -1;
        if (steps < 0) continue;  // begins beyond its end: contains no rank
        int64_t reached = first + steps * stride;
        if (first < 0 || first >= size || reached < 0 || reached >= size)
            return {ErrorClass::rank,
                    range + " leaves the group; " + ranks_there_are(static_cast<size_t>(size))};
        for (int64_t step = 0; step <= steps; ++step)
            ranks.push_back(static_cast<int>(first + step * stride));
    }
    return {};
}

Error translate_ranks(const Peers &first, const int *ranks, int count, const Peers &second, int *translated) {
    Places places(second);
    for (int i = 0; i < count; ++i) {
        if (ranks[i] == abi::proc_null) {
            translated[i] = abi::proc_null;
            continue;
        }
        if (ranks[i] < 0 || static_cast<size_t>(ranks[i]) >= first.size())
            return {ErrorClass::rank, "rank " + std::to_string(ranks[i]) + ", entry " + std::to_string(i) +
                                          " of the list, is not in the first group; " +
                                          ranks_there_are(first.size())};
        translated[i] = places.rank_of(first[static_cast<size_t>(ranks[i])]);
    }
    return {};
}

int compare_peers(const Peers &first, const Peers &second) {
    if (first == second) return abi::ident;
    if (first.size() != second.size()) return abi::unequal;
    Places places(second);
    for (uint32_t peer : first)
        if (places.rank_of(peer) == abi::undefined) return abi::unequal;
    return abi::similar;
}

Group *make_group(Universe &universe, Peers peers, std::shared_ptr<const SessionTraits> session) {
    if (peers.empty() && universe.empty_group) return universe.empty_group;
    Group *group = universe.groups.create();
    if (!group) return nullptr;
    for (size_t rank = 0; rank < peers.size(); ++rank)
        if (peers[rank] == universe.own_peer) group->rank = static_cast<int>(rank);
    group->peers = std::move(peers);
    group->universe = &universe;
    group->session = std::move(session);
    group->handles = 0;
    return group;
}

Error give_group(const Group &of, Peers peers, Group **given) {
    return give_group(*of.universe, std::move(peers), of.session, given);
}

Error give_group(Universe &universe, Peers peers, std::shared_ptr<const SessionTraits> session,
                 Group **given) {
    *given = make_group(universe, std::move(peers), std::move(session));
    if (!*given) return {ErrorClass::no_mem, "there is no memory left for another group"};
    (*given)->add_handle();
    return {};
}

void release_group(Group *group) {
    if (group && !group->predefined() && group->let_go()) group->universe->groups.destroy(group);
}

}  // namespace lanyard
