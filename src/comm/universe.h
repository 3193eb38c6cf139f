// What all communicators of one runtime share: the messenger, the pools of their objects, the identity of
// this process, and which peers are on its node. The runtime creates it before the predefined communicators,
// and it outlives every communicator. Thread rule: the pools are thread-safe, next_counter is atomic,
// awaited_areas has a lock, and the rest is set once and then only read.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/locality.h"
#include "base/pool.h"
#include "base/processes.h"
#include "comm/comm.h"
#include "comm/context.h"
#include "comm/group.h"
#include "comm/session.h"
#include "p2p/messenger.h"

namespace lanyard {

// Memory shared by all processes of a node. A team on one node has an area in it for its collectives
// (team.h). Any thread.
class NodeMemory {
public:
    virtual ~NodeMemory() = default;
    // Allocates a zeroed area. Its offset has the same meaning for all processes of the node. Returns false
    // if there is no memory left.
    virtual bool allocate(size_t bytes, uint64_t &offset) = 0;
    // open maps the first `bytes` of an area into this process, aligned to 64 bytes; nullptr: the process may
    // have no more address space. close unmaps them.
    virtual std::byte *open(uint64_t offset, size_t bytes) = 0;
    virtual void close(uint64_t offset, std::byte *memory, size_t bytes) = 0;
    // Called by the last member that uses an area before it marks the area as over in the first line. Returns
    // the memory behind the first page to the system, unless it may be used again soon. True: it did.
    virtual bool empty(uint64_t offset, size_t bytes) = 0;
    // Releases an area that this process has allocated and no process uses any more.
    virtual void release(uint64_t offset, size_t bytes, bool emptied) = 0;
};

class Executor;  // coll/executor.h

struct Universe {
    Messenger &messenger;
    Engine &engine;
    const Settings &settings;
    const Processes &processes;  // by peer; those on the node of own_peer share its NodeMemory
    uint32_t own_peer = 0;
    NodeMemory *node_memory = nullptr;     // nullptr: teams have no area
    bool direct_reads = false;             // as in Team
    // false: peers of a node reach each other over the network; the same on all ranks
    bool nodes_share_memory = true;
    Executor *executor = nullptr;          // of collectives
    // Of the calling thread. Tests replace it by machines of their own.
    Locality (*locality)(const Universe &) = [](const Universe &) { return own_locality(); };
    std::string alloc_kinds = minimal_alloc_kinds;  // of the world model (session.h)
    int processors = 0;  // as in Team, for teams created by this process; 0: each rank has its own
    // Ends the whole job with this exit code. The launcher prints `message`. `asked`: the program called
    // MPI_Abort. Does not return.
    void (*abort)(Universe &universe, int code, std::string_view message, bool asked) = nullptr;

    // Values of the predefined attributes (MPI-5.0 9.1.2), which programs read in place. undefined: unknown
    // or not set.
    struct {
        int tag_ub = INT32_MAX;
        int host = abi::proc_null;  // no process is the host
        int io = abi::any_source;   // every process can do language-standard input and output
        int wtime_is_global = 0;
        int appnum = abi::undefined;
        int universe_size = abi::undefined;
    } predefined;

    ObjectPool<Comm> comms{1 << 18};  // of 2 KiB each
    ObjectPool<Group> groups;
    Comm *world = nullptr;
    Comm *self = nullptr;
    Group *empty_group = nullptr;
    AwaitedAreas awaited_areas;
    std::atomic<uint64_t> next_counter{first_free_counter};

    Universe(Messenger &m, const Settings &s, const Processes &p, uint32_t peer);

    ProcessName own_name() const { return processes.name(own_peer); }
    uint64_t new_context() {
        return context_of(own_name(), next_counter.fetch_add(1, std::memory_order_relaxed));
    }
    bool share_node(const Peers &peers) const;  // true if all are on one node, this one or another
    bool on_my_node(uint32_t peer) const { return processes.node(peer) == processes.node(own_peer); }
};

// Creates MPI_GROUP_EMPTY, MPI_COMM_SELF and MPI_COMM_WORLD. The runtime has found the world's area, if there
// is one.
Error make_predefined(Universe &universe, Peers world, std::byte *world_area, size_t world_area_bytes);
// These two end them, in MPI_Finalize. The attributes of MPI_COMM_SELF are deleted first, newest first
// (MPI-5.0 11.2.4), then those of MPI_COMM_WORLD. This is a separate call because the callbacks may still
// communicate.
Error delete_predefined_attributes(Universe &universe);
// Frees what is no longer needed. MPI_COMM_SELF stays: matched receives of MPI_MESSAGE_NO_PROC use it, also
// in sessions after MPI_Finalize.
void free_predefined(Universe &universe);

}  // namespace lanyard
