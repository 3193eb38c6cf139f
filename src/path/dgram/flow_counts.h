// What is counted of packets: over all flows of a process, and of one peer.
#pragma once

#include <cstdint>

#include "base/tally.h"

namespace lanyard::dgram {

// What happened, of all flows of a process. For any thread to read.
struct FlowCounts {
    using Count = Tally<uint64_t>;

    Count packets_out, bytes_out, numbered_out;
    Count acknowledgements_out, acknowledgements_carried;    // alone in their packet; in one that has a number
    Count packets_in, bytes_in;                              // believed
    Count named, received;                                       // numbers that peers are known to have given, and those of them that were taken
    Count lost_by_order, lost_by_time, lost_by_probe;        // packets that were given up, so that what was in them was sent again
    Count given_up_too_early;                                // of these: acknowledged after all
    Count probes, silences, taken_back;
    Count copies, beyond, no_room;                           // numbered packets that were dropped, though proven
    Count garbage, damaged, strangers, stale, malformed;     // dropped: no packet; wrong check; unproven; of another epoch; senseless
    Count refusals;

    uint64_t given_up() const { return lost_by_order + lost_by_time + lost_by_probe; }
};

// The same of one peer, as much of it as few bytes hold; counts are modulo 2^32.
struct PeerCounts {
    uint32_t sent = 0, given_up = 0, too_early = 0;
    uint32_t received = 0, missing = 0;  // of the packets that the peer has numbered
    uint64_t round_trip_ns = 0, least_round_trip_ns = 0;  // 0: not known
};

}  // namespace lanyard::dgram
