// Creating communicators (MPI-5.0 section 7.4). Each function is collective over the processes that the
// standard names, and blocks, except Duplication. There is no central agreement: rank 0 of the new group
// takes the context id from its counter (context.h) and, if all members share a node, allocates the team's
// part of the node memory. Both values travel down a tree. The API calls these functions without the engine;
// they take it while they exchange messages.
#pragma once

#include <type_traits>

#include "coll/collectives.h"
#include "comm/comm.h"
#include "comm/info.h"
#include "comm/meeting.h"
#include "comm/universe.h"

namespace lanyard {

// What rank 0 of a new communicator sends to the other members.
struct Birth {
    uint64_t context = 0;
    uint64_t area = no_node_offset;
    int32_t processors = 0;  // as in Team
    int32_t unused = 0;
};
// Structs that are sent as they are have no padding, which would be uninitialised bytes.
static_assert(std::has_unique_object_representations_v<Birth>);

// The local half: creates the object for these members, still without a context. Takes over the references to
// the groups, and drops them and returns nullptr if there is no memory. `remote`: the remote group of an
// intercommunicator.
Comm *make_comm(Universe &universe, Group *group, Errhandler &errhandler, Group *remote = nullptr);
// give_birth decides, at one member of the new communicator (its rank 0 unless stated otherwise).
// accept_birth applies the decision, at every member. `sharers`: the processes that share memory if they are
// on one node; empty for an intercommunicator.
Birth give_birth(Universe &universe, const Peers &sharers);
Error accept_birth(Comm &comm, const Birth &birth);

// What the functions here share. A call that is collective over a communicator (over both groups of an
// intercommunicator) goes through its team, so that it is compared with the other calls on that communicator
// (coll/executor.h). `kind` is the call.
Error no_memory_for_comm();
// `entries` has one entry for each member of the parent's team. On entry, the own one is filled in; on
// return, all are.
Error tell_all(Comm &parent, CollectiveKind kind, void *entries, size_t entry_bytes);
Error check_stringtag(std::string_view stringtag);

Error duplicate_comm(Comm &parent, const Info *hints, Comm *&made);
// `made` becomes nullptr at processes that belong to no new communicator.
Error split_comm(Comm &parent, CollectiveKind kind, int color, int key, Comm *&made);
// split_type.cc. Stores in `info` the resource by which an unguided split was made.
Error split_comm_by_type(Comm &parent, int split_type, int key, Info *info, Comm *&made);
// Ranks that have no group in common may pass different groups.
Error create_comm(Comm &parent, CollectiveKind kind, const Group &group, Comm *&made);
Error create_comm_of_group(Comm &parent, Group &group, int tag, Comm *&made);
Error create_comm_from_group(Group &group, std::string_view stringtag, const Info *hints,
                             Errhandler &errhandler, Comm *&made);

// intercomm.cc. On an intercommunicator, the functions above create another intercommunicator, except
// create_comm_of_group.
Error create_intercomm(Comm &local, int local_leader, Comm *peer_comm, int remote_leader, int tag,
                       Comm *&made);
Error create_intercomm_from_groups(Group &local, int local_leader, Group *remote, int remote_leader,
                                   std::string_view stringtag, const Info *hints, Errhandler &errhandler,
                                   Comm *&made);
Error merge_intercomm(Comm &parent, bool high, Comm *&made);

// What a member of the parent requests in a split, and what it offers.
struct Wish {
    int32_t color = abi::undefined;
    int32_t key = 0;
    uint64_t context = 0;  // in case this process becomes rank 0
    int32_t processors = 0;
    int32_t unused = 0;
};
static_assert(std::has_unique_object_representations_v<Wish>);
// The end of every split: evaluates the requests of the parent's team, which all members have by now.
Error make_part(Comm &parent, const std::vector<Wish> &wishes, Comm *&made);

// MPI_Comm_idup, and the parts of MPI_Comm_dup. The order is prepare(); start(), by the engine's owner; when
// the collective is complete, accept(), which may run in the engine; finally finish(), which must not. The
// object exists from prepare() on and is a usable communicator after accept().
class Duplication {
public:
    // Copies the attributes. A failure of the program's copy function is returned by finish(), because the
    // other members need this one for their copies all the same.
    Error prepare(Comm &parent, const Info *hints, Comm *&made);
    // Sets `collective` before it can be complete.
    void start(Comm &parent, void (*then)(Completion &), void *context, Collective *&collective);
    // `error` is the collective's.
    void accept(Comm &made, Error error);
    // If this returns an Error, `made` has been released.
    Error finish(Comm *made);

private:
    Birth birth_;
    Error failed_;
};

}  // namespace lanyard
