// Making communicators (MPI-5.0 section 7.4). Each function is collective over what the standard says and blocks, except
// Duplication. Nothing is agreed centrally: one member, rank 0 of the new group, draws the context id (context.h), allocates the
// team's part of the node memory where all members share a node, and both travel down a tree.
// Called by the API, without the engine; the functions take it while they exchange messages.
#pragma once

#include <type_traits>

#include "coll/collectives.h"
#include "comm/comm.h"
#include "comm/info.h"
#include "comm/meeting.h"
#include "comm/universe.h"

namespace lanyard {

// What rank 0 of a new communicator tells the other members.
struct Birth {
    uint64_t context = 0;
    uint64_t area = no_node_offset;
    int32_t processors = 0;  // as in Team
    int32_t unused = 0;
};
// What goes to others whole has no padding: that would be bytes nobody wrote.
static_assert(std::has_unique_object_representations_v<Birth>);

// The local half: an object for these members, without context yet; takes over the references to the groups, and gives them
// back when there is no memory, which is nullptr. `remote`: of an intercommunicator.
Comm *make_comm(Universe &universe, Group *group, Errhandler &errhandler, Group *remote = nullptr);
// Decides, at one member of the new communicator, its rank 0 where nothing else is said; and follows, at every member.
// `sharers`: those who are to share memory if they are on one node; none for an intercommunicator.
Birth give_birth(Universe &universe, const Peers &sharers);
Error accept_birth(Comm &comm, const Birth &birth);

// What the functions here share. Calls that are collective over a communicator, both groups of an intercommunicator, go through its team,
// so that they are compared with what else is called on it (coll/executor.h); `kind` is the call.
Error no_memory_for_comm();
// `entries` has one for each of the parent's team, own entry filled in; afterwards all of them.
Error tell_all(Comm &parent, CollectiveKind kind, void *entries, size_t entry_bytes);
Error check_stringtag(std::string_view stringtag);

Error duplicate_comm(Comm &parent, const Info *hints, Comm *&made);
// `made` is nullptr at processes that belong to no new communicator.
Error split_comm(Comm &parent, CollectiveKind kind, int color, int key, Comm *&made);
// split_type.cc. Tells in `info` by which resource an unguided split was made.
Error split_comm_by_type(Comm &parent, int split_type, int key, Info *info, Comm *&made);
// Ranks that are in no group with each other may give different groups.
Error create_comm(Comm &parent, CollectiveKind kind, const Group &group, Comm *&made);
Error create_comm_of_group(Comm &parent, Group &group, int tag, Comm *&made);
Error create_comm_from_group(Group &group, std::string_view stringtag, const Info *hints, Errhandler &errhandler, Comm *&made);

// intercomm.cc. Of an intercommunicator the functions above, but create_comm_of_group, make another one.
Error create_intercomm(Comm &local, int local_leader, Comm *peer_comm, int remote_leader, int tag, Comm *&made);
Error create_intercomm_from_groups(Group &local, int local_leader, Group *remote, int remote_leader, std::string_view stringtag,
                                   const Info *hints, Errhandler &errhandler, Comm *&made);
Error merge_intercomm(Comm &parent, bool high, Comm *&made);

// What a member of the parent wants in a split, and what it offers.
struct Wish {
    int32_t color = abi::undefined;
    int32_t key = 0;
    uint64_t context = 0;  // in case this becomes rank 0
    int32_t processors = 0;
    int32_t unused = 0;
};
static_assert(std::has_unique_object_representations_v<Wish>);
// The end of every split: by the wishes of the parent's team, which all members know by now.
Error make_part(Comm &parent, const std::vector<Wish> &wishes, Comm *&made);

// MPI_Comm_idup, and the parts of MPI_Comm_dup: prepare(), then start() by the engine's owner, then, once the collective is
// complete, accept(), which may run in the engine, and finish(), which may not. The object exists from prepare() on and is a
// communicator after accept().
class Duplication {
public:
    // Copies the attributes. That the program's copy function failed is told by finish(), as the others need this member's
    // help with their copies all the same.
    Error prepare(Comm &parent, const Info *hints, Comm *&made);
    // `collective` is set before it may be complete.
    void start(Comm &parent, void (*then)(Completion &), void *context, Collective *&collective);
    // Takes the collective's error.
    void accept(Comm &made, Error error);
    // When an Error comes back `made` has been released.
    Error finish(Comm *made);

private:
    Birth birth_;
    Error failed_;
};

}  // namespace lanyard
