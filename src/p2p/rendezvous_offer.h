// The payload of an offer. If the first bytes of the message travel with the offer, they follow this struct.
// Thread rule: no lock; each thread uses only its own objects.
// Tested by: tests/unit/p2p/rendezvous_send_test.cc, tests/unit/p2p/rendezvous_receive_test.cc.
#pragma once

#include <cstdint>

#include "p2p/unexpected.h"
#include "path/path.h"

namespace lanyard {

struct RendezvousOffer {
    // The id of the send; 0: the message has already been written to the receive buffer (shm_write.h).
    uint64_t sender_id;
    // With flag_announced or flag_claimed: the id of the receive. Otherwise the address of the message in the
    // sender's memory, or 0 if the receiver cannot read the message there.
    uint64_t address;
};
static_assert(sizeof(RendezvousOffer) == Unexpected::offer_bytes);
static_assert(sizeof(RendezvousOffer) <= most_beginning, "Sink::begin() looks at it");

}  // namespace lanyard
