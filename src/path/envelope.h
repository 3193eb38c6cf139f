// An envelope describes a message. It has 32 bytes and is the same on every path. Together with 24 bytes of
// payload and the 8-byte word of a ring line (short_ring.h), it fills one cache line. Paths carry an envelope
// unread. p2p interprets it; layers above p2p interpret the envelopes of their own kinds.
// Tested by: tests/conformance/conformance_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lanyard {

// Kinds up to `rendezvous` are messages, which match receives. From `first_bound` on, the kinds belong to
// layers above p2p, which bind them to their own handlers (p2p/dispatch.h).
enum class EnvelopeKind : uint8_t {
    eager = 1,      // the payload follows in the same frame
    rendezvous,     // the payload stays with the sender; frame payload: RendezvousOffer
    clear_to_send,  // receiver to sender: send the bytes as bulk; frame payload: ClearToSend
    finished,       // receiver to sender: the bytes have arrived
    help,    // receiver to sender: copy a part, from the end of the message; frame payload: HelpRequest
    helped,  // sender to receiver: tag 1: the sender has written the part that it claimed; 0: it could not
    credit,  // only returns credit
    cancel,  // sender to receiver: withdraw the offer with this id unless it is matched
    cancel_reply,  // receiver to sender: tag 1: withdrawn; 0: matched already
    announcement,  // receiver to sender: a receive from the sender is posted, with room for `length` bytes
    first_bound = 32,
};
constexpr size_t kinds_of_envelopes = 64;

struct Envelope {
    // Communicator; bit 0 is set for collective traffic. Answers and `cancel` have the id of a send or
    // receive here.
    uint64_t context;
    int32_t source;  // rank of the sender in the communicator; in an announcement: the receive's source
    int32_t tag;
    uint64_t length;  // bytes of the whole message
    EnvelopeKind kind;
    uint8_t flags;
    uint16_t credit;  // returned to the peer: how much more eager payload it may send, in units of 64 bytes
    // In an announcement within a node, and with flag_if_unclaimed: the name of a shared word
    // (p2p/shared_words.h). Otherwise: signature of collective and types, to detect mismatched calls; 0 if
    // unused.
    uint32_t check;
};
static_assert(sizeof(Envelope) == 32);

constexpr uint8_t flag_ready = 1;  // the program promised that the receive is posted (ready mode)
// In an offer within a node: the sender stays inside the MPI call until the message is complete, so it
// answers at once.
constexpr uint8_t flag_attended = 2;

constexpr uint8_t flag_announced = 4;  // in an offer: it names an announced receive instead of an address
constexpr uint8_t flag_in_place = 8;   // in an announcement: the receive's buffer is contiguous
constexpr uint8_t flag_sole = 32;      // in an announcement: no other receive announced to this peer is open
// In a clear-to-send: the sender sends the bytes only if it can claim the shared word that `check` names
// (p2p/push_request.h).
constexpr uint8_t flag_if_unclaimed = 64;
// In an offer: the offer is only for the receive that it names. The sender has claimed this receive
// (p2p/shm_advert.h).
constexpr uint8_t flag_claimed = 16;

// In an offer within a node: the receiver takes the payload from the sender's memory as soon as the offer
// arrives, as if it were eager. It has cost the credit of its payload (p2p/mapped_offers.h).
constexpr uint8_t flag_mapped = 128;

// Payload of at most this size lies beside the envelope and costs no credit.
constexpr size_t inline_payload = 24;
constexpr size_t credit_unit = 64;

constexpr uint64_t collective_bit = 1;

}  // namespace lanyard
