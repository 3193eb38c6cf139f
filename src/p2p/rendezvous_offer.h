// The payload of an offer. It precedes the first bytes of the message, if these travel with the offer.
// Thread rule: plain values.
#pragma once

#include <cstdint>

#include "p2p/unexpected.h"
#include "path/path.h"

namespace lanyard {

struct RendezvousOffer {
    uint64_t sender_id;  // the send; 0: the message is in place already (shm_write.h)
    // The address of the contiguous bytes in the sender's memory, or 0 if they cannot be read in one piece.
    // With flag_announced or flag_claimed: the id of a receive.
    uint64_t address;
};
static_assert(sizeof(RendezvousOffer) == Unexpected::offer_bytes);
static_assert(sizeof(RendezvousOffer) <= most_beginning, "Sink::begin() looks at it");

}  // namespace lanyard
