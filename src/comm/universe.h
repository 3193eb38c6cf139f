// A Universe holds what all communicators of one runtime share: the messenger, the pools of their objects,
// the identity of this process, and which peers are on its node. The runtime creates the Universe before the
// predefined communicators, and the Universe outlives every communicator. Thread rule: the pools are
// thread-safe, next_counter is atomic, awaited_areas has a lock, and the rest is set once and then only read,
// except that free_predefined() sets `world` to nullptr.
// Tested by: tests/unit/comm/create_test.cc, tests/sim/communicators_test.cc.
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
    // Allocates a zeroed area. All processes of the node find the area by its offset. Returns false if there
    // is no memory left.
    virtual bool allocate(size_t bytes, uint64_t &offset) = 0;
    // open() maps the first `bytes` of an area into this process, aligned to 64 bytes. nullptr: the process
    // may have no more address space. close() unmaps these bytes.
    virtual std::byte *open(uint64_t offset, size_t bytes) = 0;
    virtual void close(uint64_t offset, std::byte *memory, size_t bytes) = 0;
    // The last member that leaves an area calls this before it marks the area as over (area.h). Returns the
    // memory behind the first page to the system, unless the memory may be used again soon. True: the memory
    // was returned.
    virtual bool empty(uint64_t offset, size_t bytes) = 0;
    // Releases an area that this process has allocated and no process uses any more, so that this process can
    // allocate it again. `emptied`: the result of empty().
    virtual void release(uint64_t offset, size_t bytes, bool emptied) = 0;
};

class Executor;  // coll/executor.h

struct Universe {
    Messenger &messenger;
    Engine &engine;
    const Settings &settings;
    const Processes &processes;  // by peer; the peers on the node of own_peer share its NodeMemory
    uint32_t own_peer = 0;
    NodeMemory *node_memory = nullptr;  // nullptr: teams have no area
    bool direct_reads = false;          // see Team::direct_reads
    // false: the processes of a node reach each other only over the network. The value is the same on all
    // ranks.
    bool nodes_share_memory = true;
    Executor *executor = nullptr;  // runs all collectives
    // The parts of the machine on which the calling thread runs. Tests replace this function, to simulate
    // machines.
    Locality (*locality)(const Universe &) = [](const Universe &) { return own_locality(); };
    std::string alloc_kinds = minimal_alloc_kinds;  // the kinds of memory in the world model (session.h)
    int processors = 0;                             // Team::processors of the teams that this process creates
    // Ends the whole job with this exit code. The launcher prints `message`. `asked`: the program has called
    // MPI_Abort. The function does not return.
    void (*abort)(Universe &universe, int code, std::string_view message, bool asked) = nullptr;

    // Values of the predefined attributes (MPI-5.0 9.1.2), which programs read in place. abi::undefined: the
    // value is unknown or not set.
    struct {
        int tag_ub = INT32_MAX;
        int host = abi::proc_null;  // no process is the host
        int io = abi::any_source;   // every process can do language-standard input and output
        int wtime_is_global = 0;
        int appnum = abi::undefined;
        int universe_size = abi::undefined;
    } predefined;

    ObjectPool<Comm> comms{1 << 18};  // an entry takes 2 KiB
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
    // True if all these peers are on one node, which need not be the node of this process.
    bool share_node(const Peers &peers) const;
    bool on_my_node(uint32_t peer) const { return processes.node(peer) == processes.node(own_peer); }
};

// Creates MPI_GROUP_EMPTY, MPI_COMM_SELF and MPI_COMM_WORLD. `world_area`: the area of MPI_COMM_WORLD, which
// the runtime has found; nullptr if there is none.
Error make_predefined(Universe &universe, Peers world, std::byte *world_area, size_t world_area_bytes);
// MPI_Finalize ends the predefined communicators by two calls. The first deletes the attributes of
// MPI_COMM_SELF, newest first (MPI-5.0 11.2.4), and then those of MPI_COMM_WORLD. This call is separate
// because the program's delete functions may still communicate.
Error delete_predefined_attributes(Universe &universe);
// The second call frees MPI_COMM_WORLD and the areas that are over. MPI_COMM_SELF stays, with the error
// handler MPI_ERRORS_ARE_FATAL, because matched receives of MPI_MESSAGE_NO_PROC use it, also in sessions
// after MPI_Finalize.
void free_predefined(Universe &universe);

}  // namespace lanyard
