// Implements MPI_Comm_split. All members exchange their requests once. Every member then computes its own new
// communicator from these requests, as all other members of that communicator do. The context id is in the
// request of the new team's first member. Only the members of a team on one node exchange a second message,
// for their area in the node memory, which the team's rank 0 allocates.
// Tested by: tests/unit/comm/create_test.cc, tests/sim/communicators_test.cc.
#include <algorithm>

#include "comm/create.h"
#include "comm/errhandler.h"

namespace lanyard {
namespace {

// The members with this color among the `size` members of the parent's team from index `begin` on, in the
// order of the new communicator.
std::vector<int> members_with(int color, const std::vector<Wish> &wishes, int begin, int size) {
    std::vector<int> members;
    for (int member = begin; member < begin + size; ++member)
        if (wishes[static_cast<size_t>(member)].color == color) members.push_back(member);
    std::stable_sort(members.begin(), members.end(), [&](int a, int b) {
        return wishes[static_cast<size_t>(a)].key < wishes[static_cast<size_t>(b)].key;
    });
    return members;
}

Group *group_of(const Comm &parent, const std::vector<int> &members) {
    Peers peers;
    for (int member : members) peers.push_back(parent.team.peers[member]);
    return make_group(*parent.universe, std::move(peers), parent.group->session);
}

// Gets the area for a team that already has its context id. The team's rank 0 allocates the area and sends
// its offset to the others.
Error share_area(Universe &universe, const Meeting &meeting, Birth &birth) {
    uint64_t context = birth.context;
    if (meeting.own == 0) birth = give_birth(universe, meeting.peers);
    birth.context = context;
    return spread(universe.messenger, meeting, &birth, sizeof birth);
}

}  // namespace

Error tell_all(Comm &parent, CollectiveKind kind, void *entries, size_t entry_bytes) {
    Executor &executor = *parent.universe->executor;
    EngineGuard guard(executor.engine());
    return blocking(executor, parent.team, kind, plan_tell_all, entries, static_cast<int64_t>(entry_bytes));
}

Error split_comm(Comm &parent, CollectiveKind kind, int color, int key, Comm *&made) {
    Universe &universe = *parent.universe;
    made = nullptr;
    std::vector<Wish> wishes(static_cast<size_t>(parent.team.size));
    wishes[static_cast<size_t>(parent.team.index)] = {color, key, universe.new_context(), universe.processors,
                                                      0};
    if (Error error = tell_all(parent, kind, wishes.data(), sizeof(Wish))) return error;
    return make_part(parent, wishes, made);
}

Error make_part(Comm &parent, const std::vector<Wish> &wishes, Comm *&made) {
    Universe &universe = *parent.universe;
    const Team &team = parent.team;
    int color = wishes[static_cast<size_t>(team.index)].color;
    if (color == abi::undefined) return {};

    Meeting meeting{
        parent.context | creation_bit, static_cast<int32_t>(team.sequence & INT32_MAX), {}, {}, 0};
    meeting.names = members_with(color, wishes, own_begin(team), own_size(team));
    std::vector<int> others = members_with(color, wishes, other_begin(team), other_size(team));
    if (parent.remote_group && others.empty()) return {};
    Group *group = group_of(parent, meeting.names),
          *remote = parent.remote_group ? group_of(parent, others) : nullptr;
    if (group && (remote || !parent.remote_group))
        made = make_comm(universe, group, *KeptErrhandler(parent.errhandler), remote);
    else
        for (Group *lonely : {group, remote}) release_group(lonely);
    if (!made) return no_memory_for_comm();
    int creator = own_begin(made->team) == 0 ? meeting.names[0] : others[0];
    const Wish &first = wishes[static_cast<size_t>(creator)];
    Birth birth{first.context, no_node_offset, first.processors};
    meeting.peers = group->peers;
    meeting.own = group->rank;
    Error error;
    if (!remote && universe.node_memory && made->size > 1 && universe.share_node(meeting.peers))
        error = share_area(universe, meeting, birth);
    error = first_failure(error, accept_birth(*made, birth));
    if (error) {
        release_comm(made);
        made = nullptr;
    }
    return error;
}

}  // namespace lanyard
