// Who the processes are that this one knows. A table that only grows: the owner of the engine appends a process before
// anything is sent to it or believed of it. Its place, the peer number by which all layers speak of it, never changes
// and is never another's. So whoever keeps a number, or a reference to what is kept of a peer (base/growing.h), need not
// be told when others come. Behind the table grow the paths (NetworkPath::grow, ShmPath::add_member) and the messenger
// (Messenger::add_peer), in this order.
//
// A process is named by its job and its number in the job. A launcher counts all processes that it ever starts; a job is
// named by the count of its first process, 0 for the first job. So job + number, the serial, names a process in one
// number, however many jobs there are and however large each of them is: in contexts (comm/context.h), in packets
// (path/dgram/packet.h), in messages between groups. Peer numbers mean nothing to others.
// Jobs of different launchers meet under names that each side draws for the other, and under contexts that are derived
// from both (comm/context.h).
//
// Processes of one job that come one after the other take no memory but for their node.
// Thread rule: append() by the owner of the engine; the rest by any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "base/growing.h"

namespace lanyard {

struct ProcessName {
    uint32_t job = 0;     // of which this is the serial of the first process
    uint32_t number = 0;  // in the job

    constexpr uint64_t serial() const { return uint64_t{job} + number; }
    constexpr auto operator<=>(const ProcessName &) const = default;
};

constexpr uint32_t nobody = UINT32_MAX;  // instead of a peer number

class Processes {
public:
    Processes() = default;
    // The first job's, numbers 0 to count - 1, as peers of these numbers, each on a node of its own.
    explicit Processes(uint32_t count) {
        for (uint32_t number = 0; number < count; ++number) append({0, number}, number);
    }

    // The next peer number, for a process that is not there yet; `nobody`: no room for a further one.
    uint32_t append(ProcessName name, uint32_t node);
    uint32_t count() const { return static_cast<uint32_t>(nodes_.size()); }
    // Processes with the same share memory.
    uint32_t node(uint32_t peer) const { return nodes_[peer]; }
    // For each packet that goes.
    ProcessName name(uint32_t peer) const {
        const Run &run = peer < runs_[0].count.load(std::memory_order_acquire) ? runs_[0] : run_of(peer);
        return {run.first.job, run.first.number + (peer - run.first_peer)};
    }
    // Its peer number, or `nobody`.
    uint32_t find(ProcessName name) const;
    // For each packet that comes, nearly always of the first job.
    uint32_t find(uint64_t serial) const {
        if (runs_.size() > 0) {
            uint64_t in_run = serial - runs_[0].first.serial();
            if (in_run < runs_[0].count.load(std::memory_order_acquire)) return static_cast<uint32_t>(in_run);
        }
        return find_later(serial);
    }

private:
    // Processes of a job whose numbers and peer numbers follow each other.
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

// "5", or "5 of job 16", for people.
std::string in_words(ProcessName name);

}  // namespace lanyard
