// The processes that this one can name, in a table that only grows. The owner of the engine appends a process
// before anything is sent to it or accepted from it. Its place is the peer number by which all layers name
// it. The number never changes and is never reused, so code that stores it, or a reference to what is stored
// for a peer (base/growing.h), need not be notified of new processes. The paths (NetworkPath::grow,
// ShmPath::add_member) and the messenger (Messenger::add_peer) grow after the table, in this order.
//
// A process is named by its job and its number in the job. A launcher counts all processes that it ever
// starts. A job is named by the count of its first process, 0 for the first job. So job + number, the serial,
// names a process by one number, whatever the number and the size of the jobs: in contexts (comm/context.h),
// in packets (path/dgram/packet.h), and in messages between groups. Peer numbers have no meaning in other
// processes. Jobs of different launchers use names that each side draws for the other, and contexts derived
// from both (comm/context.h).
//
// Consecutive processes of one job take no memory except for their node.
// Thread rule: append() by the owner of the engine, the rest by any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "base/growing.h"

namespace lanyard {

struct ProcessName {
    uint32_t job = 0;     // the serial of the job's first process
    uint32_t number = 0;  // in the job

    constexpr uint64_t serial() const { return uint64_t{job} + number; }
    constexpr auto operator<=>(const ProcessName &) const = default;
};

constexpr uint32_t nobody = UINT32_MAX;  // instead of a peer number

class Processes {
public:
    Processes() = default;
    // The first job's processes 0 to count - 1, as peers with these numbers, each on a node of its own.
    explicit Processes(uint32_t count) {
        for (uint32_t number = 0; number < count; ++number) append({0, number}, number);
    }

    // Adds a process that is not in the table, and returns its peer number; `nobody`: no room for another.
    uint32_t append(ProcessName name, uint32_t node);
    uint32_t count() const { return static_cast<uint32_t>(nodes_.size()); }
    // Processes with the same node share memory.
    uint32_t node(uint32_t peer) const { return nodes_[peer]; }
    // Called for each packet sent.
    ProcessName name(uint32_t peer) const {
        const Run &run = peer < runs_[0].count.load(std::memory_order_acquire) ? runs_[0] : run_of(peer);
        return {run.first.job, run.first.number + (peer - run.first_peer)};
    }
    // Its peer number, or `nobody`.
    uint32_t find(ProcessName name) const;
    // Called for each packet received, nearly always for the first job.
    uint32_t find(uint64_t serial) const {
        if (runs_.size() > 0) {
            uint64_t in_run = serial - runs_[0].first.serial();
            if (in_run < runs_[0].count.load(std::memory_order_acquire)) return static_cast<uint32_t>(in_run);
        }
        return find_later(serial);
    }

private:
    // Processes of a job with consecutive numbers and peer numbers.
    struct Run {
        Run(ProcessName name, uint32_t peer) : first(name), first_peer(peer) {}

        ProcessName first;
        uint32_t first_peer;
        std::atomic<uint32_t> count{1};
    };

    const Run &run_of(uint32_t peer) const;
    uint32_t find_later(uint64_t serial) const;

    Growing<uint32_t> nodes_;  // by peer
    Growing<Run> runs_;
};

// For people: "5", or "5 of job 16".
std::string in_words(ProcessName name);

}  // namespace lanyard
