// What a waiting rank waits for, written by the rank in memory that its launcher can read even when the rank is stuck.
// One record a process, at a place that SegmentLabel names; written by the thread that waits, with plain stores: a reader
// sees at worst a record that is just changing. Costs a few stores per blocking wait that has to wait.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace lanyard {

constexpr uint64_t segment_magic = 0x0032474553444e4cu;  // "LNDSEG2", whose last digit is the version of the segment's layout

// The first bytes of the node's segment.
struct SegmentLabel {
    uint64_t magic;
    uint32_t members;  // grows
    uint32_t record_bytes;
    uint64_t first_record;   // offset
    uint64_t record_stride;  // bytes between two members' records
};

inline std::atomic_ref<uint32_t> members_of(const SegmentLabel &label) {
    return std::atomic_ref<uint32_t>(const_cast<SegmentLabel &>(label).members);
}

// One of the operations that a call on requests waits for.
struct WaitPart {
    enum Kind : int32_t { send, receive, other };
    Kind kind;
    int32_t peer;  // of a send or receive: rank in the communicator, or any_source
    int32_t tag;   // likewise; of other operations: its number on the communicator, 0 where it has none
    char operation[32];  // of other operations: its name
};
constexpr uint32_t most_wait_parts = 3;

// What a call on requests waits for: all are counted, the first are told.
struct WaitParts {
    uint32_t requests = 0;
    WaitPart part[most_wait_parts];

    void add(WaitPart::Kind kind, int32_t peer, int32_t tag, const char *operation = "") {
        if (requests++ >= most_wait_parts) return;
        WaitPart &added = part[requests - 1];
        added = {kind, peer, tag, {}};
        std::strncpy(added.operation, operation, sizeof added.operation - 1);
    }
};

struct alignas(64) WaitRecord {
    std::atomic<uint32_t> waiting;  // 1: the rest is what is waited for; 0: computing, or in a call that does not wait
    int32_t world_rank;
    char call[32];        // MPI name
    char communicator[32];  // its name, or ""
    int32_t peer;         // rank in the communicator (of a collective: its root), any_source, or -32766 when the call names none
    int32_t tag;
    uint64_t context;
    uint64_t sequence;  // of the collective on its communicator, 0 of other calls
    WaitParts parts;    // of a call on requests
    uint64_t since_ns;  // CLOCK_MONOTONIC; 0: the wait has just begun
    std::atomic<uint64_t> sent;     // envelopes sent and matched since the start
    std::atomic<uint64_t> matched;
    int32_t state;      // 0 not initialised, 1 initialised, 2 finalised
    int32_t process;
};

// One line per process of the segment behind `descriptor`, in member order, e.g.
// "rank 3: waits in MPI_Recv with rank 1, tag 7 on MPI_COMM_WORLD, for 12.4 s; 5 messages sent, 6 received". An empty line
// is that of a process that has not left MPI_Init. No lines when it holds no segment yet.
std::vector<std::string> describe_waits(int descriptor);

}  // namespace lanyard
