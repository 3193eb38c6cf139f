// The table of all processes that this process can name. The table only grows. The owner of the engine
// appends a process before anything is sent to that process or accepted from it. The place of a process in
// the table is the peer number by which all layers name it. A peer number never changes and is never reused.
// So code that stores a peer number, or a reference to an element of an array by peer (base/growing.h), need
// not be notified when processes are added. The paths (NetworkPath::grow, ShmPath::add_member) and the
// messenger (Messenger::add_peer) grow after the table, in this order.
//
// A process is named by its job and its number in the job. A launcher counts all processes that it ever
// starts. A job is named by the count of its first process, 0 for the first job. So the sum job + number, the
// serial, identifies a process, however many jobs there are and however large they are. Serials are used in
// contexts (comm/context.h), in packets (path/dgram/packet.h), and in messages between groups. Peer numbers
// have no meaning in other processes. No function connects jobs of different launchers yet. Between such
// jobs, each side will have to choose names for the processes of the other, and contexts are derived from a
// text that both jobs have (comm/context.h).
//
// For consecutive processes of one job, only the node of each process takes memory.
// Thread rule: append() by the owner of the engine, the rest by any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "base/growing.h"

namespace lanyard {

struct ProcessName {
    uint32_t job = 0;     // the serial of the job's first process
    uint32_t number = 0;  // the process's number in the job

    constexpr uint64_t serial() const { return uint64_t{job} + number; }
    constexpr auto operator<=>(const ProcessName &) const = default;
};

constexpr uint32_t nobody = UINT32_MAX;  // used as a peer number: no process

class Processes {
public:
    Processes() = default;
    // Appends the processes 0 to count - 1 of the first job, each on a node of its own. Their peer numbers
    // equal their numbers in the job.
    explicit Processes(uint32_t count) {
        for (uint32_t number = 0; number < count; ++number) append({0, number}, number);
    }

    // Adds a process that is not in the table. Returns its peer number, or `nobody` if there is no room. The
    // table is then as before.
    uint32_t append(ProcessName name, uint32_t node);
    uint32_t count() const { return static_cast<uint32_t>(nodes_.size()); }
    // The node of a peer. Processes with the same node share memory.
    uint32_t node(uint32_t peer) const { return nodes_[peer]; }
    // The name of a peer. Fast, because it is called for each packet sent.
    ProcessName name(uint32_t peer) const {
        const Run &run = peer < runs_[0].count.load(std::memory_order_acquire) ? runs_[0] : run_of(peer);
        return {run.first.job, run.first.number + (peer - run.first_peer)};
    }
    // The peer number of the process with this name, or `nobody`.
    uint32_t find(ProcessName name) const;
    // Like find(name), but by the serial. Called for each packet received, nearly always for a process of the
    // first job.
    uint32_t find(uint64_t serial) const {
        if (runs_.size() > 0) {
            uint64_t in_run = serial - runs_[0].first.serial();
            if (in_run < runs_[0].count.load(std::memory_order_acquire)) return static_cast<uint32_t>(in_run);
        }
        return find_later(serial);
    }

private:
    // Processes of one job whose numbers are consecutive, and whose peer numbers are consecutive, too.
    struct Run {
        Run(ProcessName name, uint32_t peer) : first(name), first_peer(peer) {}

        ProcessName first;
        uint32_t first_peer;
        std::atomic<uint32_t> count{1};
    };

    const Run &run_of(uint32_t peer) const;
    uint32_t find_later(uint64_t serial) const;

    // The node of each peer. An entry is small, so there is room for a job of any size even if addresses are
    // scarce.
    Growing<uint32_t> nodes_{Growing<uint32_t>::most};
    Growing<Run> runs_;
};

// The name of a process for messages to people: "5", or "5 of job 16".
std::string in_words(ProcessName name);

}  // namespace lanyard
