// See create.h.
#include "comm/create.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "base/log.h"
#include "coll/kept_plans.h"
#include "coll/nodes.h"
#include "comm/attributes.h"

namespace lanyard {
namespace {

// Rank 0 of the new communicator decides the values of `birth` and sends them to the other members.
Error exchange_birth(Universe &universe, const Meeting &meeting, Birth &birth) {
    if (meeting.own == 0) birth = give_birth(universe, meeting.peers);
    return spread(universe.messenger, meeting, &birth, sizeof birth);
}

// Creates the communicator for a group whose members can exchange messages as `meeting` describes.
Error make_and_agree(Universe &universe, Group &group, const Meeting &meeting, Errhandler &errhandler,
                     Comm *&made) {
    group.hold();
    made = make_comm(universe, &group, errhandler);
    if (!made) return no_memory_for_comm();
    Birth birth;
    Error error = exchange_birth(universe, meeting, birth);
    error = first_failure(error, accept_birth(*made, birth));
    if (error) {
        release_comm(made);
        made = nullptr;
    }
    return error;
}

std::shared_ptr<const Nodes> nodes_of(const Universe &universe, const Peers &members) {
    if (universe.nodes_share_memory && universe.share_node(members)) return nullptr;
    std::vector<uint32_t> hosts;
    for (uint32_t peer : members) hosts.push_back(universe.processes.node(peer));
    return find_nodes(hosts, universe.nodes_share_memory);
}

// Describes how the members of `group` exchange messages in the context of `parent`, under their ranks in
// `parent`.
Error meet_in(const Comm &parent, const Group &group, Meeting &meeting) {
    Places places(parent.group->peers);
    meeting.peers = group.peers;
    meeting.own = group.rank;
    for (size_t rank = 0; rank < group.peers.size(); ++rank) {
        int name = places.rank_of(group.peers[rank]);
        if (name == abi::undefined)
            return {ErrorClass::group,
                    "rank " + std::to_string(rank) + " of the group is not in the communicator"};
        meeting.names.push_back(name);
    }
    return {};
}

// The first few peers as text: "0 1 2 ...".
std::string in_words(const Peers &peers) {
    constexpr size_t most_shown = 16;
    std::string text;
    for (size_t i = 0; i < std::min(peers.size(), most_shown); ++i)
        text += (i ? " " : "") + std::to_string(peers[i]);
    return peers.size() > most_shown ? text + " ..." : text;
}

void tell(const Comm &comm) {
    const Peers &own = comm.group->peers;
    std::string remote = comm.remote_group ? "; remote members: " + in_words(comm.remote_group->peers) : "";
    log(LogLevel::debug, "comm", "communicator with context %#llx: rank %d of %zu, members: %s%s",
        static_cast<unsigned long long>(comm.context), comm.rank, own.size(), in_words(own).c_str(),
        remote.c_str());
}

}  // namespace

Error no_memory_for_comm() {
    return {ErrorClass::no_mem, "there is no memory left for another communicator"};
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
    bool first = comes_first(comm.universe->processes, own.peers, remote->peers);
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

Error accept_birth(Comm &comm, const Birth &birth) {
    comm.context = birth.context;
    comm.team.context = birth.context | collective_bit;
    comm.team.processors = birth.processors;
    if (comm.team.own_group) {
        comm.team.own_group->context = comm.team.context;
        comm.team.own_group->processors = birth.processors;
    }
    if (comm.promised) tell_promises(comm);
    if (comm.universe->executor) comm.universe->executor->know(comm.team);
    if (log_enabled(LogLevel::debug)) tell(comm);
    return join_area(comm, birth.area, birth.allocator);
}

Error Duplication::prepare(Comm &parent, const Info *hints, Comm *&made) {
    Universe &universe = *parent.universe;
    parent.group->hold();
    if (parent.remote_group) parent.remote_group->hold();
    made = make_comm(universe, parent.group, *KeptErrhandler(parent.errhandler), parent.remote_group);
    if (!made) return no_memory_for_comm();
    made->topology = parent.topology;
    if (parent.team.index == 0)
        birth_ = give_birth(universe, parent.remote_group ? Peers() : parent.group->peers);
    failed_ = copy_attributes(parent.attributes, &parent, made->attributes, made);
    if (!failed_) failed_ = set_hints(*made, hints);
    return {};
}

void Duplication::start(Comm &parent, void (*then)(Completion &), void *context, Collective *&collective) {
    Executor &executor = *parent.universe->executor;
    collective = executor.take();
    plan_spread(executor, parent.team, collective->plan, &birth_, sizeof birth_, 0);
    collective->plan.stand_for(CollectiveKind::comm_dup);
    collective->completion.then = then;
    collective->completion.context = context;
    executor.start(*collective, parent.team);
}

void Duplication::accept(Comm &made, Error error) {
    failed_ = first_failure(first_failure(failed_, error), accept_birth(made, birth_));
}

Error Duplication::finish(Comm *made) {
    if (!failed_) return {};
    drop_attributes(made->attributes, made);
    release_comm(made);
    return failed_;
}

Error duplicate_comm(Comm &parent, const Info *hints, Comm *&made) {
    Duplication duplication;
    made = nullptr;
    if (Error error = duplication.prepare(parent, hints, made)) return error;
    {
        EngineGuard guard(parent.universe->engine);
        Collective *collective = nullptr;
        duplication.start(parent, nullptr, nullptr, collective);
        duplication.accept(*made, parent.universe->executor->finish(collective));
    }
    Error error = duplication.finish(made);
    if (error) made = nullptr;
    return error;
}

// Splits the parent. The color of each rank is the first member of the group that it passes, since all ranks
// of a group pass the same group.
Error create_comm(Comm &parent, CollectiveKind kind, const Group &group, Comm *&made) {
    made = nullptr;
    Places places(parent.group->peers);
    Error error;
    for (size_t rank = 0; rank < group.peers.size() && !error; ++rank)
        if (places.rank_of(group.peers[rank]) == abi::undefined)
            error = {ErrorClass::group,
                     "rank " + std::to_string(rank) + " of the group is not in the communicator"};
    bool in_it = !error && group.rank != abi::undefined;
    // On an intercommunicator all ranks use one color, because the ranks of one side do not know which group
    // the other side passes.
    int color = !in_it ? abi::undefined : parent.remote_group ? 0 : places.rank_of(group.peers[0]);
    Error split = split_comm(parent, kind, color, in_it ? group.rank : 0, made);
    if (error) split.discard();
    else error = split;
    if (error || !made || made->group->size() == group.size()) return error;
    release_comm(std::exchange(made, nullptr));
    return {ErrorClass::group,
            "another rank of the group gave another group; all ranks of a group must give the same"};
}

Error create_comm_of_group(Comm &parent, Group &group, int tag, Comm *&made) {
    made = nullptr;
    if (parent.remote_group)
        return {ErrorClass::comm,
                "the communicator is an intercommunicator; MPI_Comm_create_group makes none of it"};
    Meeting meeting{parent.context | creation_bit | collective_bit, tag, {}, {}, 0};
    if (Error error = meet_in(parent, group, meeting)) return error;
    if (group.rank == abi::undefined) return {};
    return make_and_agree(*parent.universe, group, meeting, *KeptErrhandler(parent.errhandler), made);
}

Error check_stringtag(std::string_view stringtag) {
    if (stringtag.size() < static_cast<size_t>(abi::max_stringtag_len)) return {};
    return {ErrorClass::arg, "the stringtag has " + std::to_string(stringtag.size()) +
                                 " characters; at most " + std::to_string(abi::max_stringtag_len - 1) +
                                 " are allowed"};
}

Error create_comm_from_group(Group &group, std::string_view stringtag, const Info *hints,
                             Errhandler &errhandler, Comm *&made) {
    made = nullptr;
    if (Error error = check_stringtag(stringtag)) return error;
    if (group.size() == 0) return {};
    if (group.rank == abi::undefined) return {ErrorClass::group, "the calling process is not in the group"};
    const Processes &processes = group.universe->processes;
    Meeting meeting{derived_context(stringtag, processes, group.peers) | creation_bit, 0, group.peers,
                    names_of(processes, group.peers), group.rank};
    if (Error error = make_and_agree(*group.universe, group, meeting, errhandler, made)) return error;
    return set_hints(*made, hints);
}

}  // namespace lanyard
