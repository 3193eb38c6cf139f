// Defines the typed functions (types.h) of groups (MPI-5.0 section 7.3). All are local. Any thread.
// Tested by: tests/mpi/comm/groups.cc, tests/mpi/random/locals.cc.
#include "comm/group.h"

#include "api/generated/core.h"
#include "comm/session.h"
#include "runtime/process_sets.h"
#include "runtime/runtime.h"

namespace lanyard {

namespace {

// The group from which the new group takes its session: the first one. If that is empty, the second,
// because MPI_GROUP_EMPTY belongs to no session.
const Group &first_of(const Group &group1, const Group &group2) { return group1.size() ? group1 : group2; }

using Choose = Error (*)(const Peers &, const int *, int, Peers &);

// Returns the group that `choose` (include or exclude) forms from some ranks.
Error give_chosen(Choose choose, Group &group, int n, const int *ranks, Group **newgroup) {
    Peers peers;
    if (Error error = choose(group.peers, ranks, n, peers)) return error;
    return give_group(group, std::move(peers), newgroup);
}

Error give_chosen_ranges(Choose choose, Group &group, int n, const int (*ranges)[3], Group **newgroup) {
    std::vector<int> ranks;
    if (Error error = expand_ranges(ranges, n, group.size(), ranks)) return error;
    return give_chosen(choose, group, static_cast<int>(ranks.size()), ranks.data(), newgroup);
}

}  // namespace

extern "C" {

Error lanyard_group_size(Group &group, int *size) {
    *size = group.size();
    return {};
}

Error lanyard_group_rank(Group &group, int *rank) {
    *rank = group.rank;
    return {};
}

Error lanyard_group_translate_ranks(Group &group1, int n, const int *ranks1, Group &group2, int *ranks2) {
    return translate_ranks(group1.peers, ranks1, n, group2.peers, ranks2);
}

Error lanyard_group_compare(Group &group1, Group &group2, int *result) {
    *result = compare_peers(group1.peers, group2.peers);
    return {};
}

Error lanyard_group_union(Group &group1, Group &group2, Group **newgroup) {
    return give_group(first_of(group1, group2), union_of(group1.peers, group2.peers), newgroup);
}

Error lanyard_group_intersection(Group &group1, Group &group2, Group **newgroup) {
    return give_group(first_of(group1, group2), intersection_of(group1.peers, group2.peers), newgroup);
}

Error lanyard_group_difference(Group &group1, Group &group2, Group **newgroup) {
    return give_group(first_of(group1, group2), difference_of(group1.peers, group2.peers), newgroup);
}

Error lanyard_group_incl(Group &group, int n, const int *ranks, Group **newgroup) {
    return give_chosen(include, group, n, ranks, newgroup);
}
Error lanyard_group_excl(Group &group, int n, const int *ranks, Group **newgroup) {
    return give_chosen(exclude, group, n, ranks, newgroup);
}

Error lanyard_group_range_incl(Group &group, int n, const int (*ranges)[3], Group **newgroup) {
    return give_chosen_ranges(include, group, n, ranges, newgroup);
}

Error lanyard_group_range_excl(Group &group, int n, const int (*ranges)[3], Group **newgroup) {
    return give_chosen_ranges(exclude, group, n, ranges, newgroup);
}

Error lanyard_group_from_session_pset(Session &session, const char *pset_name, Group **newgroup) {
    Universe &universe = *runtime()->universe;
    Peers peers;
    if (Error error = find_process_set(*runtime(), pset_name, peers)) return error;
    return give_group(universe, std::move(peers), session.traits, newgroup);
}

Error lanyard_group_free(Group *&group) {
    group->end_handle();
    release_group(group);
    group = nullptr;
    return {};
}

}  // extern "C"

}  // namespace lanyard
