// Making communicators (MPI-5.0 section 7.4). Each function is collective over what the standard says and blocks, except
// Duplication. Nothing is agreed centrally: rank 0 of the new group draws the context id (context.h), allocates the team's
// part of the node memory where all members share a node, and both travel down the relay's tree.
// Called by the API, without the engine; the functions take it while they exchange messages.
#pragma once

#include "comm/comm.h"
#include "comm/info.h"
#include "comm/relay.h"
#include "comm/universe.h"

namespace lanyard {

// What rank 0 of a new communicator tells the other members.
struct Birth {
    uint64_t context = 0;
    uint64_t area = no_node_offset;
    int32_t processors = 0;  // as in Team
};

// The local half: an object for these members, without context yet; takes over the reference to `group`.
Comm *make_comm(Universe &universe, Group *group, Errhandler &errhandler);
// Decides, at rank 0 of the new communicator; and follows, at every member.
Birth give_birth(Universe &universe, const Peers &members);
void accept_birth(Comm &comm, const Birth &birth);

Error duplicate_comm(Comm &parent, const Info *hints, Comm *&made);
// `made` is nullptr at processes that belong to no new communicator.
Error split_comm(Comm &parent, int color, int key, Comm *&made);
// Tells in `info` by which resource an unguided split was made.
Error split_comm_by_type(Comm &parent, int split_type, int key, Info *info, Comm *&made);
Error create_comm(Comm &parent, Group &group, Comm *&made);
Error create_comm_of_group(Comm &parent, Group &group, int tag, Comm *&made);
Error create_comm_from_group(Group &group, std::string_view stringtag, const Info *hints, Errhandler &errhandler, Comm *&made);

// MPI_Comm_idup, and the parts of MPI_Comm_dup: prepare(), then relay.start() by the engine's owner, then, once
// relay.completion is done, accept(), which may run in the engine, and finish(), which may not. The object exists from
// prepare() on and is a communicator after accept().
class Duplication {
public:
    explicit Duplication(Messenger &messenger) : relay(messenger) {}
    // Copies the attributes. That the program's copy function failed is told by finish(), as the others need this member's
    // help with their copies all the same.
    Error prepare(Comm &parent, const Info *hints, Comm *&made);
    void accept(Comm &made) { accept_birth(made, birth_); }
    // When an Error comes back `made` has been released.
    Error finish(Comm *made);

    Relay relay;

private:
    Birth birth_;
    Error failed_;
};

}  // namespace lanyard
