// Computes the tags of the messages of collectives.
// Thread rule: pure functions.
// Tested by: tests/unit/coll/plan_test.cc.
#pragma once

#include <cstdint>

#include "coll/schedule.h"
#include "coll/team.h"

namespace lanyard {

// A tag consists of one bit that says whether the collective is persistent, the number of the collective on
// its team (19 bits), and the label of the message (11 bits). Numbers repeat after half a million
// collectives. By then an earlier collective with the same number has ended, unless it is persistent. If a
// persistent collective with the number still exists, the creation of the later persistent collective fails
// (Collective::keep_tag).
static_assert(1 + collective_number_bits + label_bits == 31);
constexpr uint32_t collective_numbers = 1u << collective_number_bits;
constexpr int32_t tag_of(uint32_t number, bool persistent) {
    return static_cast<int32_t>(
        (uint32_t{persistent} << collective_number_bits | (number & (collective_numbers - 1))) << label_bits);
}
constexpr bool is_persistent(int32_t tag) { return tag >> (collective_number_bits + label_bits) != 0; }
constexpr uint32_t number_of(int32_t tag) {
    return static_cast<uint32_t>(tag) >> label_bits & (collective_numbers - 1);
}

}  // namespace lanyard
