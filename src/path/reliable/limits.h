// What all paths that keep envelopes until they are delivered may keep.
#pragma once

#include <cstddef>

namespace lanyard {

struct ReliableLimits {
    size_t max_eager = 256 * 1024 + 64;  // payload of an envelope, with the offer that goes before the first bytes of a longer message
    size_t log_limit = 1024 * 1024;      // bytes in the log of one peer
};

}  // namespace lanyard
