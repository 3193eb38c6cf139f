// Defines the limits of all paths that keep envelopes until these are delivered.
// Tested by: tests/unit/path/tcp/links_test.cc, tests/conformance/conformance_test.cc.
#pragma once

#include <cstddef>

#include "base/bytes.h"

namespace lanyard {

struct ReliableLimits {
    // The largest payload of an envelope. Includes room for the offer that precedes the first bytes of a
    // longer message.
    size_t max_eager = 256 * KiB + 64;
    size_t log_limit = MiB;  // bytes in the log of one peer, which has its unacknowledged envelopes
};

}  // namespace lanyard
