// A Comm is a communicator (MPI-5.0 chapter 7), created by the functions of create.h. The fields used most
// come first: a send reads the first cache line and `peers`. A communicator counts references. Its handle
// holds one, and so does each request, matched message and MPI_T handle that uses the communicator. When the
// last reference is dropped, the communicator ends, without communication. Thread rule: the owner of the
// engine uses `team` and `send_buffer`; any thread uses `name`; locks in errhandler.cc and attributes.cc
// guard `errhandler` and `attributes`. set_hints() changes `promised` without a lock. The other fields are
// set before the communicator can be used.
// Tested by: tests/unit/comm/create_test.cc, tests/sim/communicators_test.cc.
#pragma once

#include <cstdint>
#include <memory>

#include "base/error.h"
#include "base/object.h"
#include "base/object_name.h"
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
// whose rank 0 has the lower name (base/processes.h) comes first, so that all members use the same order.
struct BothGroups {
    Peers peers;
    Team own;
};

struct Comm : Object {
    uint64_t context = 0;  // even; collective traffic sets bit 0
    // The processes that the program's rank arguments name, by rank. For an intercommunicator these are the
    // members of the remote group.
    const uint32_t *peers = nullptr;
    int size = 0;  // the number of entries in `peers`
    int rank = 0;  // the rank of this process in its own group
    Universe *universe = nullptr;
    Group *group = nullptr;
    Group *remote_group = nullptr;  // nullptr unless this is an intercommunicator
    Team team;
    std::unique_ptr<BothGroups> both;  // nullptr unless this is an intercommunicator
    std::shared_ptr<KeptPlans> plans;  // the kept plans to which `team` points
    Errhandler *errhandler = nullptr;
    Attributes *attributes = nullptr;
    ObjectName name;
    std::shared_ptr<SendBuffer> send_buffer;   // for buffered sends; nullptr if no buffer was ever attached
    std::shared_ptr<const Nodes> nodes;        // the object to which `team`, or its own_group, points
    std::shared_ptr<const Topology> topology;  // the virtual topology; nullptr if there is none
    uint8_t promised = 0;                      // the promises that the hints make (bits of p2p/promises.h)
    // The offset of the team's area in the node memory (area.h), if one was allocated for this communicator.
    uint64_t area = no_node_offset;
    int32_t area_allocator = 0;  // the index in the team of the process that allocated and will release it
};

int compare(const Comm &first, const Comm &second);  // abi::ident, congruent, similar or unequal

void release_comm(Comm *comm);  // drops a reference; `comm` may be nullptr
// MPI_Comm_free: deletes the attributes, then drops the handle's reference and sets the handle to nullptr. If
// a delete function fails, the communicator stays.
Error free_comm(Comm *&comm);

// Sets and reports hints (MPI-5.0 7.4.4). The library stores and reports only the hints that it acts upon,
// and ignores all others, as the standard allows. set_hints() does not change hints that are absent from
// `hints`, which may be nullptr. hints_of() also reports the kinds of memory that are supported (session.h).
// It returns a new object, which the caller owns, or nullptr if memory is exhausted.
Error set_hints(Comm &comm, const Info *hints);
Info *hints_of(const Comm &comm);
// Reports the promises of the communicator's hints to matching, which relies on these promises from now on.
// The communicator must have its context. set_hints() calls this function, and accept_birth() calls it for
// hints that were set before the communicator had a context.
void tell_promises(Comm &comm);

}  // namespace lanyard
