// A communicator. Hot fields first: a send reads the first cache line and `peers`. MPI-5.0 chapter 7. Made by create.h.
// Counted: the handle, and every request and window on it, hold a reference; the last one ends it, without communication.
// Thread rule: `team` belongs to the engine's owner, `name` to its lock; the rest is set once or guarded by
// what it points to.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/object.h"
#include "base/spin_lock.h"
#include "coll/team.h"
#include "comm/area.h"
#include "comm/group.h"

namespace lanyard {

struct Universe;    // universe.h: what all communicators of a runtime share
struct Attributes;  // attributes.h
struct Errhandler;  // errhandler.h
struct Info;        // info.h
class SendBuffer;   // api/bsend.h
struct Topology;    // topology.h

// What an intercommunicator has beside: its team has the members of both groups, first those of the group whose rank 0 has the
// lower process number, so that all of them number it alike.
struct BothGroups {
    Peers peers;
    Team own;
};

struct Comm : Object {
    uint64_t context = 0;             // even; collective traffic sets bit 0
    const uint32_t *peers = nullptr;  // by rank: those a rank argument names (the remote group of an intercommunicator)
    int size = 0;                     // how many those are
    int rank = 0;                     // this process in its own group
    Universe *universe = nullptr;
    Group *group = nullptr;
    Group *remote_group = nullptr;  // of an intercommunicator, else nullptr
    Team team;
    std::unique_ptr<BothGroups> both;  // of an intercommunicator
    std::shared_ptr<KeptPlans> plans;  // of the team
    Errhandler *errhandler = nullptr;
    Attributes *attributes = nullptr;
    std::string name;
    mutable SpinLock name_lock;
    std::shared_ptr<SendBuffer> send_buffer;  // for buffered sends, if one was ever attached
    std::shared_ptr<const Nodes> nodes;  // the team's
    std::shared_ptr<const Topology> topology;  // virtual, if it was made with one
    uint8_t promised = 0;             // hints of p2p/promises.h
    uint64_t area = no_node_offset;   // of the team's part of the node memory, if it was allocated with this communicator
};

// The name's characters at this moment.
std::string name_of(const Comm &comm);
void set_name(Comm &comm, std::string_view name);

int compare(const Comm &first, const Comm &second);  // abi::ident, congruent, similar or unequal

void release_comm(Comm *comm);  // a reference is given back; nullptr is allowed
// MPI_Comm_free: deletes the attributes, then gives the handle's reference back and sets it to nullptr. When a delete
// function fails the communicator stays.
Error free_comm(Comm *&comm);

// Hints (MPI-5.0 7.4.4). The library keeps those it acts upon and reports only them; the rest is ignored, as the standard allows.
// Those that are not in `hints` stay as they are.
Error set_hints(Comm &comm, const Info *hints);
Info *hints_of(const Comm &comm);
// From now on matching counts on what the hints promise; for a communicator that got them before its context.
void tell_promises(Comm &comm);

}  // namespace lanyard
