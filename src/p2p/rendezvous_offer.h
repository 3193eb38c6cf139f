// What an offer says beside its envelope: the first bytes of its payload, before those of the message.
#pragma once

#include <cstdint>

#include "p2p/unexpected.h"
#include "path/path.h"

namespace lanyard {

struct RendezvousOffer {
    uint64_t sender_id;  // the send; 0: its message is in place already (shm_write.h)
    // Of the contiguous bytes in the sender's memory, 0 where they cannot be read in one piece; or of a receive, its id
    // (flag_announced, flag_claimed).
    uint64_t address;
};
static_assert(sizeof(RendezvousOffer) == Unexpected::offer_bytes);
static_assert(sizeof(RendezvousOffer) <= most_beginning, "Sink::begin() looks at it");

}  // namespace lanyard
