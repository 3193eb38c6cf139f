// A Job runs its ranks on the simulated network. Each rank has everything that a process has below the API
// (engine, messenger, executor of collectives, communicators). Each rank is a thread of a Baton
// (path/sim/baton.h), and calls the body that the test passes to each(). Several jobs may share a baton. A
// deadlock ends the test with a message that states what every rank waits for.
//
//     sim::Job job(baton, sim::Behaviour::any(baton.random()), {.ranks = 8});
//     job.each([](sim::Rank &rank) { ... });
//     baton.run();
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coll/executor.h"
#include "coll/shm/node_reach.h"
#include "comm/universe.h"
#include "config/settings.h"
#include "engine/engine.h"
#include "p2p/messenger.h"
#include "path/self/self_path.h"
#include "path/sim/sim_network.h"
#include "path/sim/sim_sockets.h"
#include "path/tcp/tcp_path.h"
#include "sim/datagrams.h"

namespace lanyard::sim {

// Implements Idle (engine/idle.h) for a simulated rank: a rank that waits passes the baton on.
class SimIdle final : public Idle {
public:
    explicit SimIdle(Baton &baton) : baton_(baton) {}
    Action next(uint32_t idle_turns, uint64_t, uint64_t) override {
        return idle_turns > 2 || baton_.random().chance(50) ? Action::sleep : Action::yield;
    }
    void yield() override { baton_.pass(); }
    void arm() override { baton_.arm(); }
    uint64_t now_ns() override { return baton_.now_ns(); }
    void sleep(uint64_t deadline_ns) override {
        if (deadline_ns == no_deadline) baton_.sleep();
        else baton_.sleep_until(deadline_ns);
    }
    void disarm() override {}
    void wake() override {}  // never needed: a rank has only one thread, so no other thread of the rank
                             // sleeps when wake() is called

private:
    Baton &baton_;
};

// Simulates the shared memory of a node by memory of this process, to which all ranks have access. Counts the
// areas in use.
class SimMemory final : public NodeMemory {
public:
    bool allocate(size_t bytes, uint64_t &offset) override;
    std::byte *open(uint64_t offset, size_t) override {
        return reinterpret_cast<std::byte *>(areas_[offset].get());
    }
    void close(uint64_t, std::byte *, size_t) override {}
    bool empty(uint64_t, size_t) override { return false; }
    void release(uint64_t, size_t, bool) override { --in_use; }
    int in_use = 0;
    int most = INT32_MAX;  // maximum number of areas at one time

private:
    struct alignas(64) Line {
        std::byte bytes[64];
    };
    std::vector<std::unique_ptr<Line[]>> areas_;
};

class SimReach final : public NodeReach {
public:
    SimReach(Baton &baton, const std::vector<uint32_t> &threads) : baton_(baton), threads_(threads) {}
    bool asleep(uint32_t) override { return true; }
    void wake(uint32_t peer) override { baton_.notify(threads_[peer]); }
    Error read(uint32_t, uint64_t address, std::byte *to, size_t bytes) override {
        std::memcpy(to, reinterpret_cast<const std::byte *>(address), bytes);
        return {};
    }

private:
    Baton &baton_;
    const std::vector<uint32_t> &threads_;
};

struct JobShape {
    uint32_t ranks = 2;
    uint32_t ranks_per_node = 1;  // if more than 1, collectives use the node's shared memory
    bool direct_reads = false;    // collectives also read the memory of other ranks directly
    // used instead of ranks_per_node unless empty; must not place all ranks on one node
    std::vector<uint32_t> node_of_rank = {};
    Settings settings = {};
    // If set, the job uses links over simulated sockets instead of the simulated path.
    std::optional<SocketBehaviour> over_sockets = {};
    TcpLimits limits = {};
    bool checks = false;  // frames on links have checksums
    // If set, the job uses datagrams over simulated packets instead of the simulated path.
    std::optional<PacketBehaviour> over_packets = {};
    DgramLimits dgram_limits = {};
};

// Creates the links of all processes (`members`), over simulated sockets.
class SimLinks {
public:
    SimLinks(Baton &baton, const SocketBehaviour &behaviour, const TcpLimits &limits,
             const std::vector<Member> &members, Crc32c crc = {});
    // The same for `processes` processes of one job.
    SimLinks(Baton &baton, const SocketBehaviour &behaviour, const TcpLimits &limits, uint32_t processes,
             Crc32c crc = {})
        : SimLinks(baton, behaviour, limits, std::make_unique<Processes>(processes), crc) {}
    TcpPath &path(uint32_t process) { return *paths_[process]; }
    uint16_t port(uint32_t process) const { return ports_[process]; }

    SimInternet internet;

private:
    SimLinks(Baton &baton, const SocketBehaviour &behaviour, const TcpLimits &limits,
             std::unique_ptr<Processes> everybody, Crc32c crc)
        : SimLinks(baton, behaviour, limits, members_of(*everybody), crc) {
        everybody_ = std::move(everybody);
    }

    std::unique_ptr<Processes> everybody_;
    std::vector<std::unique_ptr<SimSockets>> sockets_;
    std::vector<std::unique_ptr<TcpPath>> paths_;
    std::vector<uint16_t> ports_;
};

// Returns the checksum function that links use if their frames have checksums.
Crc32c loaded_crc();

class Job;

// One process of the job.
struct Rank {
    Rank(Job &job, uint32_t own);
    ~Rank();
    Rank(const Rank &) = delete;
    Rank &operator=(const Rank &) = delete;

    int number() const { return static_cast<int>(own); }
    int size() const { return universe.world->size; }
    Comm &world() { return *universe.world; }
    // Describes the receives, stored messages and transfers of the rank's messenger, for the report
    // of a deadlock.
    std::string waits_for();
    // Every body ends with this call. Makes progress until this rank has nothing left to send and every rank
    // has called finish().
    void finish();

    Job &job;
    uint32_t own;
    SimIdle idle;
    Engine engine;
    Messenger messenger;
    SelfPath self_path;
    Path &path;
    SimReach reach;
    Executor executor;
    Universe universe;
    const int64_t credit;  // the credit that this rank had at each peer at the start
};

class Job {
public:
    Job(Baton &baton, const Behaviour &behaviour, const JobShape &shape, std::string name = "rank");
    // Adds a thread for every rank, which calls `body`. The threads run in baton.run().
    void each(const std::function<void(Rank &)> &body);
    Rank &rank(uint32_t number) { return *ranks_[number]; }
    // Ends all processes. Called after baton.run().
    void end() { ranks_.clear(); }

    Baton &baton;
    const JobShape shape;
    Path &path(uint32_t own);

    Processes processes;
    SimNetwork network;
    std::unique_ptr<SimLinks> links;          // nullptr unless the job runs over sockets
    std::unique_ptr<SimDatagrams> datagrams;  // nullptr unless the job runs over packets
    SimMemory memory;
    std::byte *world_area = nullptr;
    size_t world_area_bytes = 0;
    std::vector<uint32_t> threads;  // by rank
    uint32_t finished = 0;

private:
    std::string name_;
    std::vector<std::unique_ptr<Rank>> ranks_;
};

}  // namespace lanyard::sim
