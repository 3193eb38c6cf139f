// Creates communicators (MPI-5.0 section 7.4). Each function that creates a communicator is collective over
// the processes that the standard names, and blocks (Duplication does not). The members need not agree on a
// context id: one of them, usually rank 0 of the new group, takes the id from its counter (context.h) and, if
// all members share a node, allocates the team's area in the node memory (area.h). Both values travel down a
// tree. The calling thread must not own the engine; these functions take the engine while they exchange
// messages.
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
    int32_t processors = 0;  // see Team::processors
    int32_t allocator = 0;   // the index in the new team of the process that allocated the area
};
// Structs that are sent byte by byte must have no padding, because padding bytes would be uninitialised.
static_assert(std::has_unique_object_representations_v<Birth>);

// The local half of the creation: makes the object for these members, still without a context. Takes over the
// references to the groups. If there is no memory, drops these references and returns nullptr. `remote`: the
// remote group of an intercommunicator.
Comm *make_comm(Universe &universe, Group *group, Errhandler &errhandler, Group *remote = nullptr);
// give_birth() decides the values of a Birth, at one member of the new communicator (its rank 0 unless stated
// otherwise). accept_birth() applies these values, at every member; it returns an Error if this process
// cannot map the area. `sharers`: the members, which get an area if they are on one node; empty for an
// intercommunicator, which gets none.
Birth give_birth(Universe &universe, const Peers &sharers);
Error accept_birth(Comm &comm, const Birth &birth);

// Helpers of the functions below. A call that is collective over a communicator (over both groups of an
// intercommunicator) uses collectives of the communicator's team, so that it is compared with the other calls
// on that communicator (coll/executor.h). `kind` is the MPI call.
Error no_memory_for_comm();
// `entries` has one entry for each member of the parent's team. The caller has filled in the entry of this
// process; on return, all entries are filled in.
Error tell_all(Comm &parent, CollectiveKind kind, void *entries, size_t entry_bytes);
Error check_stringtag(std::string_view stringtag);

Error duplicate_comm(Comm &parent, const Info *hints, Comm *&made);
// `made` becomes nullptr at processes that belong to no new communicator.
Error split_comm(Comm &parent, CollectiveKind kind, int color, int key, Comm *&made);
// See split_type.cc. After an unguided split, stores in `info` the type of resource by which the parent was
// split.
Error split_comm_by_type(Comm &parent, int split_type, int key, Info *info, Comm *&made);
// Ranks that are in different groups pass different groups, which must have no member in common.
Error create_comm(Comm &parent, CollectiveKind kind, const Group &group, Comm *&made);
Error create_comm_of_group(Comm &parent, Group &group, int tag, Comm *&made);
Error create_comm_from_group(Group &group, std::string_view stringtag, const Info *hints,
                             Errhandler &errhandler, Comm *&made);

// See intercomm.cc. If the parent is an intercommunicator, the functions above create another
// intercommunicator, except create_comm_of_group(), which fails.
Error create_intercomm(Comm &local, int local_leader, Comm *peer_comm, int remote_leader, int tag,
                       Comm *&made);
Error create_intercomm_from_groups(Group &local, int local_leader, Group *remote, int remote_leader,
                                   std::string_view stringtag, const Info *hints, Errhandler &errhandler,
                                   Comm *&made);
Error merge_intercomm(Comm &parent, bool high, Comm *&made);

// A member's request in a split, and the values that it offers for a new communicator.
struct Wish {
    int32_t color = abi::undefined;
    int32_t key = 0;
    uint64_t context = 0;  // used if this process becomes rank 0
    int32_t processors = 0;
    int32_t unused = 0;
};
static_assert(std::has_unique_object_representations_v<Wish>);
// The last part of every split. `wishes`: the requests of all members of the parent's team. Every member
// evaluates them in the same way.
Error make_part(Comm &parent, const std::vector<Wish> &wishes, Comm *&made);

// The parts of MPI_Comm_idup and MPI_Comm_dup. The caller first calls prepare(). Then the owner of the engine
// calls start() and, when the collective is complete, accept(), which may run inside the engine. At last the
// caller calls finish(), which must not run inside the engine. The new communicator object exists from
// prepare() on and can be used after accept().
class Duplication {
public:
    // Makes the communicator object and copies the attributes. If a copy function of the program fails,
    // finish() returns the failure, because this process must still take part in the collective for the other
    // members. prepare() itself fails only if there is no memory; then there is no object, and the caller
    // must not go on.
    Error prepare(Comm &parent, const Info *hints, Comm *&made);
    // Starts the collective. Sets `collective` before it can be complete.
    void start(Comm &parent, void (*then)(Completion &), void *context, Collective *&collective);
    // Applies the received values to `made`. `error`: the error of the collective.
    void accept(Comm &made, Error error);
    // If anything has failed, deletes the attributes of `made`, releases it, and returns the first failure.
    Error finish(Comm *made);

private:
    Birth birth_;
    Error failed_;
};

}  // namespace lanyard
