// Creates an intercommunicator, or merges its two groups into an intracommunicator (MPI-5.0 7.6.2). To create
// an intercommunicator, the leaders of the two groups exchange the lists of their members. Each leader then
// sends the result to its own group, down a tree whose root is the leader.
//
//   members          leader             remote leader         members
//      |                | --- Offer, peers --> |                 |
//      |                | <-- Offer, peers --- |                 |
//      | <-- News, peers |                      | News, peers --> |
//
// Both leaders offer a context id. The offer of the group that comes first in the team is used. The leaders'
// messages cannot be confused with others, because their source numbers are none that a rank has. In
// MPI_Intercomm_create they have the program's tag and the context of MPI_Comm_create_group. In
// MPI_Intercomm_create_from_groups they have a context that is derived from the members of both groups. A
// leader never waits for its own group before it exchanges messages with the other leader, so other members
// may be late.
// Tested by: tests/sim/communicators_test.cc, tests/mpi/comm/inter.cc.
#include <algorithm>
#include <functional>
#include <string>
#include <type_traits>

#include "coll/block.h"
#include "comm/create.h"
#include "comm/errhandler.h"

namespace lanyard {
namespace {

struct Offer {
    uint64_t context = 0;
    int32_t processors = 0;  // as in Team
    int32_t size = 0;        // of the group
};

// How a leader reaches the other leader.
struct LeaderLink {
    uint64_t context = 0;
    int32_t tag = 0;
    int own_name = 0, other_name = 0;
    uint32_t other = 0;  // the other leader as a peer
};

// The message from a leader to its group: the facts of the intercommunicator, or the class of an error.
struct News {
    Birth birth;
    int32_t remote_size = 0;
    int32_t failed = 0;  // 0, or the class of the leader's error
};
static_assert(std::has_unique_object_representations_v<Offer> &&
              std::has_unique_object_representations_v<News>);

// Tags of MPI_Intercomm_create_from_groups. Its contexts are derived like the contexts of
// MPI_Comm_create_from_group, which uses tag 0. So it needs other tags.
constexpr int32_t leaders_tag = 1, group_tag = 2;

Error check_leader(const Group &local, int leader) {
    if (leader >= 0 && leader < local.size()) return {};
    return {ErrorClass::rank, "local_leader is " + std::to_string(leader) + ", but the local group has " +
                                  std::to_string(local.size()) + " ranks"};
}

Error check_disjoint(const Peers &first, const Peers &second) {
    Peers common = intersection_of(first, second);
    if (common.empty()) return {};
    return {ErrorClass::group,
            "process " + std::to_string(common[0]) + " is in both groups, which must be disjoint"};
}

// Sends `out` to the other leader and receives `in` from it, at the same time.
Error swap_with(const LeaderLink &link, Universe &universe, const void *out, size_t out_bytes, void *in,
                size_t in_bytes) {
    ReceiveOperation received;
    SendOperation sent;
    received.rank = link.other_name;
    sent.rank = link.own_name;
    received.buffer = {static_cast<std::byte *>(in), static_cast<int64_t>(in_bytes), &packed_bytes()};
    sent.buffer = {static_cast<std::byte *>(const_cast<void *>(out)), static_cast<int64_t>(out_bytes),
                   &packed_bytes()};
    for (MatchKey *key : {static_cast<MatchKey *>(&received), static_cast<MatchKey *>(&sent)}) {
        key->context = link.context;
        key->tag = link.tag;
    }
    received.peer = sent.peer = link.other;
    EngineGuard guard(universe.engine);
    universe.messenger.receive(received);
    universe.messenger.send(sent);
    universe.engine.wait_owned(received.completion);
    universe.engine.wait_owned(sent.completion);
    if (received.error && sent.error) sent.error.discard();
    return received.error ? received.error : sent.error;
}

Error find_peers(const Processes &processes, const std::vector<ProcessName> &names, Peers &peers) {
    peers.clear();
    for (ProcessName name : names) {
        peers.push_back(processes.find(name));
        if (peers.back() == nobody)
            return {ErrorClass::other,
                    "process " + in_words(name) + " of the other group is not known to this process"};
    }
    return {};
}

// Called at both leaders, which exchange offers and the lists of their members. On return, `remote` has the
// members of the other group.
Error agree(const LeaderLink &link, Group &local, Peers &remote, Birth &birth) {
    Universe &universe = *local.universe;
    Offer own{universe.new_context(), universe.processors, local.size()}, other;
    if (Error error = swap_with(link, universe, &own, sizeof own, &other, sizeof other)) return error;
    std::vector<ProcessName> own_names, names(static_cast<size_t>(other.size));
    for (uint32_t peer : local.peers) own_names.push_back(universe.processes.name(peer));
    Error error = swap_with(link, universe, own_names.data(), own_names.size() * sizeof(ProcessName),
                            names.data(), names.size() * sizeof(ProcessName));
    if (!error) error = find_peers(universe.processes, names, remote);
    if (error) return error;
    if (Error overlap = check_disjoint(local.peers, remote)) return overlap;
    const Offer &chosen = comes_first(universe.processes, local.peers, remote) ? own : other;
    birth = {chosen.context, no_node_offset, chosen.processors};
    return {};
}

// A meeting of the members of a group, rotated so that the leader is the root of the tree.
Meeting led_by(int leader, const Group &group, const std::vector<int> &names, uint64_t context, int32_t tag) {
    Meeting meeting{context, tag, group.peers, names, (group.rank - leader + group.size()) % group.size()};
    std::rotate(meeting.peers.begin(), meeting.peers.begin() + leader, meeting.peers.end());
    std::rotate(meeting.names.begin(), meeting.names.begin() + leader, meeting.names.end());
    return meeting;
}

// A function that sends data of the leader to all members of its group.
using Spread = std::function<Error(void *data, size_t bytes)>;

Spread in_group(Universe &universe, const Meeting &meeting) {
    return [&](void *data, size_t bytes) { return spread(universe.messenger, meeting, data, bytes); };
}

Spread in_comm(Comm &comm, int leader) {
    return [&comm, leader](void *data, size_t bytes) {
        Executor &executor = *comm.universe->executor;
        EngineGuard guard(executor.engine());
        return blocking(executor, comm.team, CollectiveKind::intercomm_create, plan_spread, data,
                        static_cast<int64_t>(bytes), leader);
    };
}

// Sends the leader's `news` and `remote` to all members of its group. `failed`: at the leader, an error found
// before.
Error spread_news(const Processes &processes, const Spread &spread, Error failed, News &news, Peers &remote) {
    news.failed = failed.code();
    news.remote_size = static_cast<int32_t>(remote.size());
    std::vector<ProcessName> names;
    for (uint32_t peer : remote) names.push_back(processes.name(peer));
    for (bool list : {false, true}) {
        if (list && news.failed) break;
        names.resize(static_cast<size_t>(news.remote_size));
        Error error =
            list ? spread(names.data(), names.size() * sizeof(ProcessName)) : spread(&news, sizeof news);
        if (list && !error) error = find_peers(processes, names, remote);
        if (!error) continue;
        if (failed) error.discard();
        return failed ? failed : error;
    }
    if (failed || !news.failed) return failed;
    return {static_cast<ErrorClass>(news.failed),
            "the leader of this process's group found an error, which it tells"};
}

Error accepted(Comm *&made, const Birth &birth) {
    Error error = accept_birth(*made, birth);
    if (!error) return {};
    release_comm(made);
    made = nullptr;
    return error;
}

// Called by all members of both groups. `link`: nullptr except at the leader. `failed`: an error that the
// leader has found before.
Error connect(Group &local, const Spread &spread, const LeaderLink *link, Error failed,
              Errhandler &errhandler, Comm *&made) {
    Universe &universe = *local.universe;
    News news;
    Peers remote;
    if (link && !failed) failed = agree(*link, local, remote, news.birth);
    if (Error error = spread_news(universe.processes, spread, failed, news, remote)) return error;
    Group *remote_group = make_group(universe, std::move(remote), local.session);
    if (!remote_group) return no_memory_for_comm();
    local.hold();
    made = make_comm(universe, &local, errhandler, remote_group);
    if (!made) return no_memory_for_comm();
    return accepted(made, news.birth);
}

// The source number for messages of a leader, which differs from every rank.
int as_leader(int rank) { return INT32_MIN + rank; }

Error link_in_comm(Comm &comm, int remote_leader, int tag, LeaderLink &link) {
    if (remote_leader < 0 || remote_leader >= comm.size)
        return {ErrorClass::rank, "remote_leader is " + std::to_string(remote_leader) +
                                      ", but peer_comm has " + std::to_string(comm.size) + " ranks"};
    link = {comm.context | creation_bit | collective_bit, tag, as_leader(comm.rank), as_leader(remote_leader),
            comm.peers[remote_leader]};
    return {};
}

Error link_between_groups(Group &local, Group &remote, int remote_leader, std::string_view stringtag,
                          LeaderLink &link) {
    if (remote_leader < 0 || remote_leader >= remote.size())
        return {ErrorClass::rank, "remote_leader is " + std::to_string(remote_leader) +
                                      ", but remote_group has " + std::to_string(remote.size()) + " ranks"};
    if (Error error = check_disjoint(local.peers, remote.peers)) return error;
    const Processes &processes = local.universe->processes;
    bool first = comes_first(processes, local.peers, remote.peers);
    Peers both = first ? union_of(local.peers, remote.peers) : union_of(remote.peers, local.peers);
    uint32_t other = remote.peers[static_cast<size_t>(remote_leader)];
    link = {derived_context(stringtag, processes, both) | creation_bit, leaders_tag,
            as_leader(name_of(processes, local.universe->own_peer)), as_leader(name_of(processes, other)),
            other};
    return {};
}

}  // namespace

Error create_intercomm(Comm &local, int local_leader, Comm *peer_comm, int remote_leader, int tag,
                       Comm *&made) {
    made = nullptr;
    if (local.remote_group) return {ErrorClass::comm, "local_comm is an intercommunicator"};
    if (Error error = check_leader(*local.group, local_leader)) return error;
    LeaderLink link;
    Error failed;
    bool leads = local.rank == local_leader;
    if (leads) failed = link_in_comm(*peer_comm, remote_leader, tag, link);
    return connect(*local.group, in_comm(local, local_leader), leads ? &link : nullptr, failed,
                   *KeptErrhandler(local.errhandler), made);
}

Error create_intercomm_from_groups(Group &local, int local_leader, Group *remote, int remote_leader,
                                   std::string_view stringtag, const Info *hints, Errhandler &errhandler,
                                   Comm *&made) {
    made = nullptr;
    if (Error error = check_stringtag(stringtag)) return error;
    if (local.rank == abi::undefined) return {ErrorClass::group, "the calling process is not in local_group"};
    if (Error error = check_leader(local, local_leader)) return error;
    const Processes &processes = local.universe->processes;
    Meeting meeting = led_by(local_leader, local, names_of(processes, local.peers),
                             derived_context(stringtag, processes, local.peers) | creation_bit, group_tag);
    LeaderLink link;
    Error failed;
    bool leads = meeting.own == 0;
    if (leads) failed = link_between_groups(local, *remote, remote_leader, stringtag, link);
    if (Error error = connect(local, in_group(*local.universe, meeting), leads ? &link : nullptr, failed,
                              errhandler, made))
        return error;
    return set_hints(*made, hints);
}

// All members exchange their `high` arguments, which decide which group comes first. The first member of the
// team also sends the values of the new communicator.
Error merge_intercomm(Comm &parent, bool high, Comm *&made) {
    struct Member {
        Birth birth;
        int32_t is_high = 0;
        int32_t unused = 0;
    };
    static_assert(std::has_unique_object_representations_v<Member>);
    made = nullptr;
    if (!parent.remote_group)
        return {ErrorClass::comm,
                "the communicator is an intracommunicator; there are no two groups to merge"};
    Universe &universe = *parent.universe;
    const Team &team = parent.team;
    Group &own = *parent.group, &other = *parent.remote_group;
    bool in_first = own_begin(team) == 0;
    std::vector<Member> members(static_cast<size_t>(team.size));
    Member &self = members[static_cast<size_t>(team.index)];
    self.is_high = high;
    if (team.index == 0) self.birth = give_birth(universe, Peers(team.peers, team.peers + team.size));
    if (Error error = tell_all(parent, CollectiveKind::intercomm_merge, members.data(), sizeof(Member)))
        return error;
    const Member &second = members[static_cast<size_t>(in_first ? own.size() : other.size())];
    bool first_is_first = !members[0].is_high || second.is_high;
    bool own_first = in_first == first_is_first;
    Peers all = own_first ? union_of(own.peers, other.peers) : union_of(other.peers, own.peers);
    Group *group = make_group(universe, std::move(all), parent.group->session);
    made = group ? make_comm(universe, group, *KeptErrhandler(parent.errhandler)) : nullptr;
    if (!made) return no_memory_for_comm();
    Birth birth = members[0].birth;
    if (!first_is_first) birth.allocator = in_first ? other.size() : own.size();
    return accepted(made, birth);
}

}  // namespace lanyard
