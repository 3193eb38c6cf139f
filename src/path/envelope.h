// The envelope: what a message says of itself, 32 bytes, the same on every path. With an 8-byte slot word and 24 bytes
// of payload it is one cache line. Its meaning belongs to p2p; paths carry it unread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lanyard {

enum class EnvelopeKind : uint8_t {
    eager = 1,        // the payload follows in the same frame
    rendezvous,       // request to send: the payload stays with the sender; frame payload = RendezvousOffer
    clear_to_send,    // receiver to sender: a receive matched; frame payload = ClearToSend
    finished,         // to the side that did not move the last byte: the rendezvous with this id is over
    synchronous_ack,  // receiver to sender: the synchronous eager message with this id was matched
    credit,           // nothing but credit returned
    cancel,           // sender to receiver: withdraw the unexpected message with this id
    cancel_reply,     // receiver to sender: withdrawn or already matched (`tag` is 1 or 0)
};

struct Envelope {
    uint64_t context;  // communicator; bit 0 is set for collective traffic. In control envelopes: the id of the operation addressed
    int32_t source;    // rank of the sender in the communicator
    int32_t tag;
    uint64_t length;  // bytes of the whole message
    EnvelopeKind kind;
    uint8_t flags;
    uint16_t credit;  // returned to the peer: units of 64 bytes of eager payload it may send again
    uint32_t check;   // signature of collective and types, for correctness help; 0 when unused
};
static_assert(sizeof(Envelope) == 32);

constexpr uint8_t flag_synchronous = 1;  // the sender waits for the match
constexpr uint8_t flag_ready = 2;        // the program promised that the receive is posted

constexpr size_t inline_payload = 24;  // travels beside the envelope in one cache line and costs no credit
constexpr size_t credit_unit = 64;

constexpr uint64_t collective_bit = 1;

}  // namespace lanyard
