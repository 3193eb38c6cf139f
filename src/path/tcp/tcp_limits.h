// What the TCP path may do, and what it counts.
#pragma once

#include "path/network_counters.h"
#include "path/reliable/limits.h"

namespace lanyard {

struct TcpLimits : ReliableLimits {
    size_t write_first_from = 4096;        // payload of so many bytes is copied after it has been written
    size_t keep_from = 16 * 1024;          // payload of so many bytes need not be copied at all
    size_t copy_kept_up_to = 256 * 1024;   // bytes that may be copied after all
    size_t answer_after = 256 * 1024;      // bytes come since the last acknowledgement; were it more than copy_kept_up_to, senders would wait
    uint64_t answer_within_ns = 10'000'000;
    uint64_t peer_timeout_ns = 60'000'000'000;
    uint64_t silence_ns = 2'000'000'000;
    uint32_t most_open = UINT32_MAX;
    uint64_t hot_ns = 200'000;             // a link is read without asking for so long after something came
    uint64_t look_every_ns = 0;            // the other sockets are asked for so often,
    uint64_t look_beside_hot_ns = 3'000;   // and while there is such a link so often
    uint64_t weigh_from = 0;               // bytes of bulk on a connection, before other addresses are measured (address_choice.h); 0: never
    uint64_t measure_ns = 20'000'000;      // how long each of them is written to
};

struct TcpCounts : NetworkCounts {
    Tally<uint64_t> broken, garbled, acknowledgements, rested;
    Tally<uint64_t> damaged;   // frames with a wrong checksum
    Tally<uint64_t> silences;  // hosts that were dialed beside a connection on which they are silent
};

}  // namespace lanyard
