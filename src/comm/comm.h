// A communicator (MPI-5.0 chapter 7), created by the functions of create.h. The fields used most come first:
// a send reads the first cache line and `peers`. Communicators count references: the handle, and every
// request and window on it, hold one. Dropping the last reference ends the communicator, without
// communication. Thread rule: `team` belongs to the engine's owner, and `name` to its lock. The other fields
// are set once or guarded by the objects to which they point.
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

// The additional parts of an intercommunicator. Its team consists of the members of both groups. The group
// whose rank 0 has the lower process number comes first, so that all members use the same order.
struct BothGroups {
    Peers peers;
    Team own;
};

struct Comm : Object {
    uint64_t context = 0;             // even; collective traffic sets bit 0
    // by rank: the processes that a rank argument names (the remote group of an intercommunicator)
    const uint32_t *peers = nullptr;
    int size = 0;                     // the number of `peers`
    int rank = 0;                     // this process in its own group
    Universe *universe = nullptr;
    Group *group = nullptr;
    Group *remote_group = nullptr;  // of an intercommunicator, otherwise nullptr
    Team team;
    std::unique_ptr<BothGroups> both;  // of an intercommunicator
    std::shared_ptr<KeptPlans> plans;  // of the team
    Errhandler *errhandler = nullptr;
    Attributes *attributes = nullptr;
    std::string name;
    mutable SpinLock name_lock;
    std::shared_ptr<SendBuffer> send_buffer;  // for buffered sends, if a buffer was ever attached
    std::shared_ptr<const Nodes> nodes;  // the team's
    std::shared_ptr<const Topology> topology;  // the virtual topology, if it was created with one
    uint8_t promised = 0;             // hints of p2p/promises.h
    // of the team's part of the node memory, if it was allocated with this communicator
    uint64_t area = no_node_offset;
};

// A copy of the current name.
std::string name_of(const Comm &comm);
void set_name(Comm &comm, std::string_view name);

int compare(const Comm &first, const Comm &second);  // abi::ident, congruent, similar or unequal

void release_comm(Comm *comm);  // drops a reference; nullptr is allowed
// MPI_Comm_free: deletes the attributes, then drops the handle's reference and sets the handle to nullptr. If
// a delete function fails, the communicator stays.
Error free_comm(Comm *&comm);

// Hints (MPI-5.0 7.4.4). The library stores and reports only the hints that it acts upon, and ignores the
// others, as the standard allows. Hints that are absent from `hints` stay as they are.
Error set_hints(Comm &comm, const Info *hints);
Info *hints_of(const Comm &comm);
// From now on, matching relies on what the hints promise. For a communicator that received hints before its
// context.
void tell_promises(Comm &comm);

}  // namespace lanyard
