// What a waiting rank waits for, written by the rank in memory that its launcher can read even when the rank is stuck.
// One record a process, at a place that SegmentLabel names; written by the thread that waits, with plain stores: a reader
// sees at worst a record that is just changing. Costs a few stores per blocking wait that has to wait.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lanyard {

constexpr uint64_t segment_magic = 0x0031474553444e4cu;  // "LNDSEG1"

// The first bytes of the node's segment.
struct SegmentLabel {
    uint64_t magic;
    uint32_t members;
    uint32_t record_bytes;
    uint64_t first_record;   // offset
    uint64_t record_stride;  // bytes between two members' records
};

struct alignas(64) WaitRecord {
    std::atomic<uint32_t> waiting;  // 1: the rest is what is waited for; 0: computing, or in a call that does not wait
    int32_t world_rank;
    char call[32];        // MPI name
    char communicator[32];  // its name, or ""
    int32_t peer;         // rank in the communicator, any_source, or -32766 when the call names none
    int32_t tag;
    uint64_t context;
    uint64_t sequence;  // of the collective on its communicator, or of the wait
    uint64_t since_ns;  // CLOCK_MONOTONIC; 0: the wait has just begun
    std::atomic<uint64_t> sent;     // envelopes sent and matched since the start
    std::atomic<uint64_t> matched;
    int32_t state;      // 0 not initialised, 1 initialised, 2 finalised
    int32_t process;
};

// One line per process of the segment behind `descriptor`, in member order, e.g.
// "rank 3: waits in MPI_Recv with rank 1, tag 7 on MPI_COMM_WORLD, for 12.4 s; 5 messages sent, 6 received". Empty when it holds no
// segment yet.
std::vector<std::string> describe_waits(int descriptor);

}  // namespace lanyard
