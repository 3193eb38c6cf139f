#include "comm/create.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "base/log.h"
#include "coll/kept_plans.h"
#include "coll/nodes.h"
#include "comm/attributes.h"

namespace lanyard {
namespace {

// Rank 0 of the new communicator decides and tells the others.
Error exchange_birth(Universe &universe, const Meeting &meeting, Birth &birth) {
    if (meeting.own == 0) birth = give_birth(universe, meeting.peers);
    Relay relay(universe.messenger);
    relay.plan_spread(meeting, &birth, sizeof birth);
    return run(relay, universe.engine);
}

// Makes the communicator for a group that has a way to meet.
Error make_and_agree(Universe &universe, Group &group, const Meeting &meeting, Errhandler &errhandler, Comm *&made) {
    group.hold();
    made = make_comm(universe, &group, errhandler);
    if (!made) return no_memory_for_comm();
    Birth birth;
    Error error = exchange_birth(universe, meeting, birth);
    accept_birth(*made, birth);
    if (error) {
        release_comm(made);
        made = nullptr;
    }
    return error;
}

std::shared_ptr<const Nodes> nodes_of(const Universe &universe, const Peers &members) {
    if (universe.nodes_share_memory && universe.share_node(members)) return nullptr;
    std::vector<uint32_t> hosts;
    for (uint32_t peer : members) hosts.push_back(universe.node_of_peer[peer]);
    return find_nodes(hosts, universe.nodes_share_memory);
}

// The members of `group` meet in `parent`, under their ranks there.
Error meet_in(const Comm &parent, const Group &group, Meeting &meeting) {
    Places places(parent.group->peers);
    meeting.peers = group.peers;
    meeting.own = group.rank;
    for (size_t rank = 0; rank < group.peers.size(); ++rank) {
        int name = places.rank_of(group.peers[rank]);
        if (name == abi::undefined)
            return {ErrorClass::group, "rank " + std::to_string(rank) + " of the group is not in the communicator"};
        meeting.names.push_back(name);
    }
    return {};
}

// "0 1 2", the first few only.
std::string in_words(const Peers &peers) {
    constexpr size_t most_shown = 16;
    std::string text;
    for (size_t i = 0; i < std::min(peers.size(), most_shown); ++i) text += (i ? " " : "") + std::to_string(peers[i]);
    return peers.size() > most_shown ? text + " ..." : text;
}

void tell(const Comm &comm) {
    const Peers &own = comm.group->peers;
    std::string remote = comm.remote_group ? "; remote members: " + in_words(comm.remote_group->peers) : "";
    log(LogLevel::debug, "comm", "communicator with context %#llx: rank %d of %zu, members: %s%s", static_cast<unsigned long long>(comm.context),
        comm.rank, own.size(), in_words(own).c_str(), remote.c_str());
}

}  // namespace

Error no_memory_for_comm() { return {ErrorClass::no_mem, "there is no memory left for another communicator"}; }

int32_t next_tag(Comm &parent) { return static_cast<int32_t>(parent.creations++ & INT32_MAX); }

Meeting meeting_of_all(Comm &parent) {
    const Team &team = parent.team;
    Meeting meeting{parent.context | creation_bit, next_tag(parent), Peers(team.peers, team.peers + team.size), {}, team.index};
    meeting.names.resize(meeting.peers.size());
    std::iota(meeting.names.begin(), meeting.names.end(), 0);
    return meeting;
}

namespace {

void make_team(Comm &comm) {
    Group &own = *comm.group, *remote = comm.remote_group;
    comm.team.peers = own.peers.data();
    comm.team.size = own.size();
    comm.team.index = own.rank;
    if (!remote) return;
    comm.both = std::make_unique<BothGroups>();
    comm.both->own.peers = comm.team.peers;
    comm.both->own.size = comm.team.size;
    comm.both->own.index = comm.team.index;
    bool first = own.peers[0] < remote->peers[0];
    comm.both->peers = first ? union_of(own.peers, remote->peers) : union_of(remote->peers, own.peers);
    comm.team.peers = comm.both->peers.data();
    comm.team.size += remote->size();
    comm.team.index += first ? 0 : remote->size();
    comm.team.own_group = &comm.both->own;
}

}  // namespace

Comm *make_comm(Universe &universe, Group *group, Errhandler &errhandler, Group *remote) {
    Comm *comm = universe.comms.create();
    if (!comm) {
        release_group(group);
        release_group(remote);
        return nullptr;
    }
    Group &named = remote ? *remote : *group;
    comm->universe = &universe;
    comm->group = group;
    comm->remote_group = remote;
    comm->peers = named.peers.data();
    comm->size = named.size();
    comm->rank = group->rank;
    make_team(*comm);
    comm->plans = std::make_shared<KeptPlans>();
    comm->team.kept = comm->plans.get();
    comm->nodes = nodes_of(universe, group->peers);
    (comm->team.own_group ? *comm->team.own_group : comm->team).nodes = comm->nodes.get();
    replace_errhandler(comm->errhandler, errhandler);
    return comm;
}

Birth give_birth(Universe &universe, const Peers &sharers) {
    Birth birth{universe.new_context(), no_node_offset, universe.processors};
    if (sharers.size() < 2 || !universe.node_memory || !universe.share_node(sharers)) return birth;
    birth.area = allocate_area(universe, static_cast<int>(sharers.size()));
    return birth;
}

void accept_birth(Comm &comm, const Birth &birth) {
    comm.context = birth.context;
    comm.team.context = birth.context | collective_bit;
    comm.team.processors = birth.processors;
    if (comm.team.own_group) {
        comm.team.own_group->context = comm.team.context;
        comm.team.own_group->processors = birth.processors;
    }
    if (comm.promised) tell_promises(comm);
    join_area(comm, birth.area);
    if (log_enabled(LogLevel::debug)) tell(comm);
}

Error Duplication::prepare(Comm &parent, const Info *hints, Comm *&made) {
    Universe &universe = *parent.universe;
    parent.group->hold();
    if (parent.remote_group) parent.remote_group->hold();
    made = make_comm(universe, parent.group, *KeptErrhandler(parent.errhandler), parent.remote_group);
    if (!made) return no_memory_for_comm();
    made->topology = parent.topology;
    Meeting meeting = meeting_of_all(parent);
    if (meeting.own == 0) birth_ = give_birth(universe, parent.remote_group ? Peers() : meeting.peers);
    relay.plan_spread(meeting, &birth_, sizeof birth_);
    failed_ = copy_attributes(parent.attributes, &parent, made->attributes, made);
    if (!failed_) failed_ = set_hints(*made, hints);
    return {};
}

Error Duplication::finish(Comm *made) {
    if (failed_ && relay.error) relay.error.discard();
    Error error = failed_ ? failed_ : relay.error;
    if (!error) return error;
    delete_attributes(made->attributes, made).discard();  // the first failure is the one to report
    release_comm(made);
    return error;
}

Error duplicate_comm(Comm &parent, const Info *hints, Comm *&made) {
    Duplication duplication(parent.universe->messenger);
    made = nullptr;
    if (Error error = duplication.prepare(parent, hints, made)) return error;
    static_cast<void>(run(duplication.relay, parent.universe->engine));  // its error is in the relay, and told by finish
    duplication.accept(*made);
    Error error = duplication.finish(made);
    if (error) made = nullptr;
    return error;
}

Error create_comm(Comm &parent, Group &group, Comm *&made) {
    made = nullptr;
    Meeting meeting{parent.context | creation_bit, parent.remote_group ? 0 : next_tag(parent), {}, {}, 0};
    if (Error error = meet_in(parent, group, meeting)) return error;
    bool in_it = group.rank != abi::undefined;
    // Neither group knows whom the other one named.
    if (parent.remote_group) return split_comm(parent, in_it ? 0 : abi::undefined, in_it ? group.rank : 0, made);
    if (!in_it) return {};
    return make_and_agree(*parent.universe, group, meeting, *KeptErrhandler(parent.errhandler), made);
}

Error create_comm_of_group(Comm &parent, Group &group, int tag, Comm *&made) {
    made = nullptr;
    if (parent.remote_group) return {ErrorClass::comm, "the communicator is an intercommunicator; MPI_Comm_create_group makes none of it"};
    Meeting meeting{parent.context | creation_bit | collective_bit, tag, {}, {}, 0};
    if (Error error = meet_in(parent, group, meeting)) return error;
    if (group.rank == abi::undefined) return {};
    return make_and_agree(*parent.universe, group, meeting, *KeptErrhandler(parent.errhandler), made);
}

Error check_stringtag(std::string_view stringtag) {
    if (stringtag.size() < static_cast<size_t>(abi::max_stringtag_len)) return {};
    return {ErrorClass::arg, "the stringtag has " + std::to_string(stringtag.size()) + " characters; at most " +
                                 std::to_string(abi::max_stringtag_len - 1) + " are allowed"};
}

Error create_comm_from_group(Group &group, std::string_view stringtag, const Info *hints, Errhandler &errhandler, Comm *&made) {
    made = nullptr;
    if (Error error = check_stringtag(stringtag)) return error;
    if (group.size() == 0) return {};
    if (group.rank == abi::undefined) return {ErrorClass::group, "the calling process is not in the group"};
    Meeting meeting{derived_context(stringtag, group.peers) | creation_bit, 0, group.peers, {}, group.rank};
    meeting.names.assign(group.peers.begin(), group.peers.end());
    if (Error error = make_and_agree(*group.universe, group, meeting, errhandler, made)) return error;
    return set_hints(*made, hints);
}

}  // namespace lanyard
