// What all communicators of one runtime share: the way to send, the pools their objects live in, who this process is and
// which peers are on its node. Made by the runtime, before the predefined communicators; outlives every communicator.
// Thread rule: the pools are thread-safe; next_counter is atomic; the rest is set once and only read.
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

// Memory shared by all processes of a node. A team on one node has an area there for its collectives (team.h). Any thread.
class NodeMemory {
public:
    virtual ~NodeMemory() = default;
    // A zeroed area, at an offset that means the same to all of the node; false: no more left.
    virtual bool allocate(size_t bytes, uint64_t &offset) = 0;
    // The first so many bytes of an area as memory of this process, on a boundary of 64 bytes; nullptr: it may have no more
    // addresses. And their end.
    virtual std::byte *open(uint64_t offset, size_t bytes) = 0;
    virtual void close(uint64_t offset, std::byte *memory, size_t bytes) = 0;
    // For the last who uses an area, but for its first line, before it says so: takes the memory from behind its first page,
    // unless that may soon be used again. True: it did.
    virtual bool empty(uint64_t offset, size_t bytes) = 0;
    // Gives back an area that this process allocated and that nobody uses any more.
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
    bool nodes_share_memory = true;        // false: peers of a node reach each other over the network; the same on all ranks
    Executor *executor = nullptr;          // of collectives
    // Of the calling thread; tests have machines of their own.
    Locality (*locality)(const Universe &) = [](const Universe &) { return own_locality(); };
    std::string alloc_kinds = minimal_alloc_kinds;  // of the world model (session.h)
    int processors = 0;                    // as in Team: of a team made by this process; 0: each rank has its own
    // Ends the whole job with this exit code; the launcher prints `message`. `asked`: by the program, which called MPI_Abort. Does not return.
    void (*abort)(Universe &universe, int code, std::string_view message, bool asked) = nullptr;

    // Values of the predefined attributes (MPI-5.0 9.1.2), which programs read in place; undefined: not known, not set.
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
    uint64_t new_context() { return context_of(own_name(), next_counter.fetch_add(1, std::memory_order_relaxed)); }
    bool share_node(const Peers &peers) const;  // all on one node, whichever
    bool on_my_node(uint32_t peer) const { return processes.node(peer) == processes.node(own_peer); }
};

// Makes MPI_GROUP_EMPTY, MPI_COMM_SELF and MPI_COMM_WORLD; the world's area, if any, has been found by the runtime.
Error make_predefined(Universe &universe, Peers world, std::byte *world_area, size_t world_area_bytes);
// Ends them, in MPI_Finalize: attributes of MPI_COMM_SELF first, newest first (MPI-5.0 11.2.4), then of MPI_COMM_WORLD.
// Two calls, as the callbacks may still communicate.
Error delete_predefined_attributes(Universe &universe);
// What is not needed any more. Receives from nobody are made on MPI_COMM_SELF, also by sessions after MPI_Finalize.
void free_predefined(Universe &universe);

}  // namespace lanyard
