// What a waiting rank waits for. The rank writes it into memory that its launcher can read even if the rank
// is stuck. Each process has one record, at an offset that SegmentLabel states. The waiting thread writes it
// with plain stores; at worst, a reader sees a record in the middle of a change. It costs a few stores for
// each blocking call that has to wait.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace lanyard {

// "LNDSEG2"; the last digit is the version of the segment's layout.
constexpr uint64_t segment_magic = 0x0032474553444e4cu;

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
    int32_t peer;  // for a send or receive: the rank in the communicator, or any_source
    int32_t tag;   // likewise; for other operations: the number on the communicator, or 0
    char operation[32];  // for other operations: the name
};
constexpr uint32_t most_wait_parts = 3;

// What a call on requests waits for. All operations are counted, the first few are described.
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
    // 1: the rest states what it waits for; 0: computing, or in a call that does not wait.
    std::atomic<uint32_t> waiting;
    int32_t world_rank;
    char call[32];        // MPI name
    char communicator[32];  // its name, or ""
    // Rank in the communicator (of a collective: its root), any_source, or -32766 if the call names none.
    int32_t peer;
    int32_t tag;
    uint64_t context;
    uint64_t sequence;  // the collective's number on its communicator; 0 for other calls
    WaitParts parts;    // for a call on requests
    uint64_t since_ns;  // CLOCK_MONOTONIC; 0: the wait has just begun
    std::atomic<uint64_t> sent;     // envelopes sent and matched since the start
    std::atomic<uint64_t> matched;
    int32_t state;      // 0 not initialised, 1 initialised, 2 finalised
    int32_t process;
};

// One line for each process of the segment behind `descriptor`, in member order, e.g.
// "rank 3: waits in MPI_Recv with rank 1, tag 7 on MPI_COMM_WORLD, for 12.4 s; 5 messages sent, 6 received".
// A process that has not left MPI_Init has an empty line. There are no lines if the descriptor holds no
// segment yet.
std::vector<std::string> describe_waits(int descriptor);

}  // namespace lanyard
