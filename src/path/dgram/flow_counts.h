// Declares the counts of packets: FlowCounts over all flows of a process, PeerCounts for one peer.
// Tested by: tests/unit/path/dgram/counts_test.cc.
#pragma once

#include <cstdint>

#include "base/tally.h"

namespace lanyard::dgram {

// What has happened to packets, over all flows of a process. Any thread may read these counts.
struct FlowCounts {
    using Count = Tally<uint64_t>;

    Count packets_out, bytes_out, numbered_out;
    Count acknowledgements_out, acknowledgements_carried;  // alone in a packet; together with other frames
    Count packets_in, bytes_in;                            // valid packets, also copies; their bytes
    // named: packets to this process that are known to have been sent, by the numbers that their senders
    // gave. received: those of these packets that were accepted.
    Count named, received;
    // Packets that were given up, so that their contents were sent again.
    Count lost_by_order, lost_by_time, lost_by_probe;
    Count given_up_too_early;  // of these, the packets that were acknowledged nevertheless
    Count probes, silences, taken_back;
    Count copies, beyond, no_room;  // numbered packets with a valid proof that were dropped nevertheless
    // Packets that were dropped because they were too short for a header (garbage), had a wrong check
    // (damaged), had no valid proof (strangers), were of another epoch (stale), or were malformed.
    Count garbage, damaged, strangers, stale, malformed;
    Count refusals;

    uint64_t given_up() const { return lost_by_order + lost_by_time + lost_by_probe; }
    // The packets that are known to have been sent and have not arrived. The two counters are read one after
    // the other, so `received` may be ahead.
    uint64_t missing() const {
        uint64_t known = named, arrived = received;
        return known > arrived ? known - arrived : 0;
    }
};

// A small selection of these counts, kept for each peer. Counts are modulo 2^32.
struct PeerCounts {
    uint32_t sent = 0, given_up = 0, too_early = 0;
    uint32_t received = 0, missing = 0;                   // of the numbered packets from this peer
    uint64_t round_trip_ns = 0, least_round_trip_ns = 0;  // 0: not known
};

}  // namespace lanyard::dgram
