// The wait record describes what a waiting rank waits for. The rank writes the record into memory that its
// launcher can read even if the rank is stuck. Each process has one record, at an offset that follows from
// SegmentLabel. The waiting thread writes the record with plain stores. At worst, a reader sees a record in
// the middle of a change. The record costs a few stores for each blocking call that has to wait.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace lanyard {

// The text "LNDSEG3". Its last digit is the version of the segment's layout.
constexpr uint64_t segment_magic = 0x0033474553444e4cu;

// The first bytes of the node's segment.
struct SegmentLabel {
    uint64_t magic;
    uint32_t members;  // the number of members with a record; it grows
    uint32_t record_bytes;
    uint64_t first_record;   // the offset of the first record
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
    int32_t tag;   // for a send or receive: its tag, or any_tag; for other operations: the number, or 0
    char operation[32];  // for other operations: the name
};
constexpr uint32_t most_wait_parts = 3;

// The operations that a call on requests waits for. All are counted, but only the first few are described.
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
    // 1 while the rank waits; the other fields then state for what. 0 while the rank computes or is in a call
    // that does not wait.
    std::atomic<uint32_t> waiting;
    int32_t world_rank;
    char call[32];        // the name of the MPI function
    char communicator[32];  // the communicator's name, or ""
    // A rank of the communicator: the other side, or the root of a collective. It can be any_source. -32766:
    // the call names no rank.
    int32_t peer;
    int32_t tag;
    uint64_t context;
    uint64_t sequence;  // the collective's number on its communicator; 0 for other calls
    WaitParts parts;    // for a call on requests: its operations
    uint64_t since_ns;  // the start of the wait by CLOCK_MONOTONIC; 0 if the wait has just begun
    std::atomic<uint64_t> sent;     // envelopes sent since the start
    std::atomic<uint64_t> matched;  // envelopes matched with receives since the start
    int32_t state;      // of MPI: 0 not initialised, 1 initialised, 2 finalised
    int32_t process;
};

// Returns one line for each process of the segment behind `descriptor`, in member order, for example
// "rank 3: waits in MPI_Recv with rank 1, tag 7 on MPI_COMM_WORLD, for 12.4 s; 5 messages sent, 6 received".
// The line of a process that has not left MPI_Init is empty. There are no lines if the file behind the
// descriptor does not contain a segment yet.
std::vector<std::string> describe_waits(int descriptor);

}  // namespace lanyard
