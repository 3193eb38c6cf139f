// Defines the typed functions (types.h) of communicators (MPI-5.0 chapter 7). The collective functions show a
// wait record (creating.h) while they wait for other ranks.
// Tested by: tests/mpi/comm/create.cc, tests/mpi/comm/inter.cc, tests/mpi/comm/hints.cc.
#include "comm/comm.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "api/bsend.h"
#include "api/creating.h"
#include "api/generated/core.h"
#include "api/request.h"
#include "comm/create.h"

namespace lanyard {

namespace {

// The state of an MPI_Comm_idup that is under way.
struct PendingDuplication {
    Duplication duplication;
    Collective *collective = nullptr;
    Comm *made = nullptr;

    static PendingDuplication &of(Request &request) {
        return *static_cast<PendingDuplication *>(request.state);
    }
};

// [owner] Called when the collective that exchanges the new context id is complete.
void duplicated(Completion &completion) {
    auto *request = static_cast<Request *>(completion.context);
    auto &pending = PendingDuplication::of(*request);
    pending.duplication.accept(*pending.made, pending.collective->error);
    pending.collective->error = {};
    pending.made->universe->executor->give_back(pending.collective);
    request->completion().finish();
    release_request(request);
}

Error finish_duplication(Request &request) {
    PendingDuplication &pending = PendingDuplication::of(request);
    return pending.duplication.finish(pending.made);
}

void end_duplication(Request &request) { delete &PendingDuplication::of(request); }

constexpr RequestActions duplication_actions{.picked_up = finish_duplication, .release = end_duplication};

Error start_duplication(Comm &comm, const Info *hints, Comm **newcomm, Request **request) {
    auto pending = std::make_unique<PendingDuplication>();
    if (Error error = pending->duplication.prepare(comm, hints, pending->made)) return error;
    Request *made = new_request(&comm);
    made->other.name = "MPI_Comm_idup";
    made->actions = &duplication_actions;
    made->hold();  // the reference of the operation under way
    *newcomm = pending->made;
    *request = made;
    PendingDuplication &under_way = *pending.release();
    made->state = &under_way;
    EngineGuard guard(comm.universe->engine);
    under_way.duplication.start(comm, duplicated, made, under_way.collective);
    return {};
}

void copy_name(const std::string &name, char *to, int *length) {
    *length = static_cast<int>(std::min(name.size(), static_cast<size_t>(abi::max_object_name) - 1));
    std::memcpy(to, name.data(), static_cast<size_t>(*length));
    to[*length] = 0;
}

Error check_inter(const Comm &comm) {
    return comm.remote_group
               ? Error()
               : Error(ErrorClass::comm, "the communicator is an intracommunicator; it has no remote group");
}

}  // namespace

extern "C" {

Error lanyard_comm_size(Comm &comm, int *size) {
    *size = comm.group->size();
    return {};
}

Error lanyard_comm_rank(Comm &comm, int *rank) {
    *rank = comm.rank;
    return {};
}

Error lanyard_comm_compare(Comm &comm1, Comm &comm2, int *result) {
    *result = compare(comm1, comm2);
    return {};
}

Error lanyard_comm_test_inter(Comm &comm, int *flag) {
    *flag = comm.remote_group != nullptr;
    return {};
}

// Creates a separate group object for each call. A second MPI_Group_free of one handle is therefore
// refused, even if the program has other handles of the communicator's group.
Error lanyard_comm_group(Comm &comm, Group **group) {
    return give_group(*comm.group, comm.group->peers, group);
}

Error lanyard_comm_remote_size(Comm &comm, int *size) {
    if (Error error = check_inter(comm)) return error;
    *size = comm.remote_group->size();
    return {};
}

Error lanyard_comm_remote_group(Comm &comm, Group **group) {
    if (Error error = check_inter(comm)) return error;
    return give_group(*comm.remote_group, comm.remote_group->peers, group);
}

Error lanyard_comm_get_name(Comm *comm, char *comm_name, int *resultlen) {
    copy_name(comm ? comm->name.get() : "MPI_COMM_NULL", comm_name, resultlen);
    return {};
}

Error lanyard_comm_set_name(Comm &comm, const char *comm_name) {
    size_t room = static_cast<size_t>(abi::max_object_name) - 1;
    comm.name.set({comm_name, strnlen(comm_name, room)});
    return {};
}

Error lanyard_comm_set_info(Comm &comm, Info *info) { return set_hints(comm, info); }

Error lanyard_comm_get_info(Comm &comm, Info **info_used) {
    *info_used = hints_of(comm);
    return *info_used ? Error()
                      : Error(ErrorClass::no_mem, "there is no memory left for another info object");
}

Error lanyard_comm_dup(Comm &comm, Comm **newcomm) {
    Creating creating("MPI_Comm_dup", &comm, abi::undefined, abi::undefined, comm.team.sequence + 1);
    return duplicate_comm(comm, nullptr, *newcomm);
}

Error lanyard_comm_dup_with_info(Comm &comm, Info *info, Comm **newcomm) {
    Creating creating("MPI_Comm_dup_with_info", &comm, abi::undefined, abi::undefined,
                      comm.team.sequence + 1);
    return duplicate_comm(comm, info, *newcomm);
}

Error lanyard_comm_idup(Comm &comm, Comm **newcomm, Request **request) {
    return start_duplication(comm, nullptr, newcomm, request);
}

Error lanyard_comm_idup_with_info(Comm &comm, Info *info, Comm **newcomm, Request **request) {
    return start_duplication(comm, info, newcomm, request);
}

Error lanyard_comm_split(Comm &comm, int color, int key, Comm **newcomm) {
    Creating creating("MPI_Comm_split", &comm, abi::undefined, abi::undefined, comm.team.sequence + 1);
    return split_comm(comm, CollectiveKind::comm_split, color, key, *newcomm);
}

Error lanyard_comm_split_type(Comm &comm, int split_type, int key, Info *info, Comm **newcomm) {
    Creating creating("MPI_Comm_split_type", &comm, abi::undefined, abi::undefined, comm.team.sequence + 1);
    return split_comm_by_type(comm, split_type, key, info, *newcomm);
}

Error lanyard_comm_create(Comm &comm, Group &group, Comm **newcomm) {
    Creating creating("MPI_Comm_create", &comm, abi::undefined, abi::undefined, comm.team.sequence + 1);
    return create_comm(comm, CollectiveKind::comm_create, group, *newcomm);
}

Error lanyard_comm_create_group(Comm &comm, Group &group, int tag, Comm **newcomm) {
    Creating creating("MPI_Comm_create_group", &comm, abi::undefined, tag);
    return create_comm_of_group(comm, group, tag, *newcomm);
}

Error lanyard_comm_create_from_group(Group &group, const char *stringtag, Info *info, Errhandler &errhandler,
                                     Comm **newcomm) {
    Creating creating("MPI_Comm_create_from_group", nullptr, abi::undefined, abi::any_tag);
    return create_comm_from_group(group, stringtag, info, errhandler, *newcomm);
}

Error lanyard_intercomm_create(Comm &local_comm, int local_leader, Comm *peer_comm, int remote_leader,
                               int tag, Comm **newintercomm) {
    Creating creating("MPI_Intercomm_create", &local_comm, abi::undefined, tag);
    return create_intercomm(local_comm, local_leader, peer_comm, remote_leader, tag, *newintercomm);
}

Error lanyard_intercomm_create_from_groups(Group &local_group, int local_leader, Group *remote_group,
                                           int remote_leader, const char *stringtag, Info *info,
                                           Errhandler &errhandler, Comm **newintercomm) {
    Creating creating("MPI_Intercomm_create_from_groups", nullptr, abi::undefined, abi::any_tag);
    return create_intercomm_from_groups(local_group, local_leader, remote_group, remote_leader, stringtag,
                                        info, errhandler, *newintercomm);
}

Error lanyard_intercomm_merge(Comm &intercomm, int high, Comm **newintracomm) {
    Creating creating("MPI_Intercomm_merge", &intercomm, abi::undefined, abi::undefined,
                      intercomm.team.sequence + 1);
    return merge_intercomm(intercomm, high != 0, *newintracomm);
}

// No process has a parent, because MPI_Comm_spawn is not implemented.
Error lanyard_comm_get_parent(Comm **parent) {
    *parent = nullptr;
    return {};
}

Error lanyard_comm_free(Comm *&comm) {
    if (comm->predefined())
        return Error(ErrorClass::comm, comm->name.get() + " is predefined and cannot be freed");
    // freeing the communicator detaches its buffer, and the program may reuse that memory
    // afterwards
    flush_buffer_of(*comm, "MPI_Comm_free");
    return free_comm(comm);
}

// Because of the barrier, no rank returns before all ranks have called this function. Operations under way
// continue until their requests are complete, as after MPI_Comm_free.
Error lanyard_comm_disconnect(Comm *&comm) {
    if (comm->predefined())
        return Error(ErrorClass::comm, comm->name.get() + " is predefined and cannot be disconnected");
    flush_buffer_of(*comm, "MPI_Comm_disconnect");
    if (Error error = lanyard_barrier(*comm)) return error;
    return free_comm(comm);
}

}  // extern "C"

}  // namespace lanyard
