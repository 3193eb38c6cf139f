// Defines the limits of the TCP path, and its counts.
// Tested by: tests/unit/path/tcp/links_test.cc, tests/sim/links_test.cc.
#pragma once

#include "base/bytes.h"
#include "path/network_counters.h"
#include "path/reliable/limits.h"

namespace lanyard {

struct TcpLimits : ReliableLimits {
    // From this size on, payload is written to the socket first, and the log gets its copy afterwards.
    size_t write_first_from = 4096;
    // From this size on, payload may stay in the program's memory (kept payload) until it is acknowledged.
    size_t keep_from = 16 * KiB;
    // If no more than this is unacknowledged, kept payload is copied all the same, so that its send is over.
    size_t copy_kept_up_to = 256 * KiB;
    // An acknowledgement is due when this many bytes of envelope frames have arrived since the last one. If
    // this limit were above copy_kept_up_to, a sender with more kept payload than that would have to wait for
    // answer_within_ns.
    size_t answer_after = 256 * KiB;
    uint64_t answer_within_ns = 10'000'000;
    uint64_t peer_timeout_ns = 60'000'000'000;
    uint64_t silence_ns = 2'000'000'000;
    uint32_t most_open = UINT32_MAX;
    // For this time after something arrived, a hot link (hot_links.h) is read without a query to the kernel.
    uint64_t hot_ns = 200'000;
    uint64_t look_every_ns = 0;           // the least time between queries for the other sockets
    uint64_t look_beside_hot_ns = 3'000;  // the same while any link is hot
    // A connection's rate is sampled after this many bytes of bulk. Then other addresses may be measured
    // (address_choice.h). 0: never.
    uint64_t weigh_from = 0;
    uint64_t measure_ns = 20'000'000;  // how long, at most, a measurement writes to each of these addresses
};

struct TcpCounts : NetworkCounts {
    Tally<uint64_t> broken, garbled, acknowledgements, idle_closed;
    Tally<uint64_t> damaged;   // frames with a wrong checksum
    Tally<uint64_t> silences;  // how often another connection was wanted because the host was silent
};

}  // namespace lanyard
