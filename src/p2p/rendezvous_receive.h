// Implements the receiver's half of the rendezvous (rendezvous_send.h has the sender's half). The bytes of an
// accepted offer arrive in one of three ways.
//
//   in bulk      The receive requests the bytes under its id, or the sender has sent them without a request
//                to a receive that the offer names (receive_advert.h). The bytes may arrive in any order.
//   directly     This process reads them from the sender's memory, if it can access that memory
//                (direct_read.h). If the sender is inside MPI, it writes a part of a long contiguous message
//                itself at the same time (dual_copy.h).
//   pushed       In bulk, although this process could read the bytes. The receiver requests this, and a
//                sender that is inside MPI answers within a moment (push_request.h). Copying into and out of
//                shared buffers at the same time is sometimes faster than one copy. The receiver measures
//                which copy method is faster (copy_methods.h).
//
// An id serves one message only. Bulk for an id is accepted only if its receive has matched the offer that
// belongs to the bulk. All other bulk is dropped. An announced receive that meets another offer gets a new
// id. After a new connection the receiver requests the missing bytes again.
// Thread rule: the owner of the engine.
#pragma once

#include "base/spares.h"
#include "p2p/arrived.h"
#include "p2p/copy_methods.h"
#include "p2p/direct_read.h"
#include "p2p/dual_copy.h"
#include "p2p/endpoint.h"
#include "p2p/push_request.h"
#include "p2p/rendezvous_offer.h"
#include "p2p/target.h"

namespace lanyard {

// The state of a receive that is announced, or whose message arrives by rendezvous. Wherever the receive
// completes or fails, end() is called, which returns this object to its pool.
class Incoming final : public Target,
                       private DirectRead::User,
                       private PieceReader::User,
                       private PushRequest::User {
public:
    // `home`: the pool to which end() returns this object.
    Incoming(Endpoint &endpoint, CopyMethods &methods, DirectRead::Landing &landing, Spares<Incoming> &home);

    // The content of an offer, except its envelope and the address.
    struct Offered {
        uint64_t sender_id;
        uint64_t first = 0;         // bytes that arrive with the offer
        bool sent_unasked = false;  // the remaining bytes follow without a request
    };

    // Gives an id to a receive that has not met an offer yet.
    void announce(ReceiveOperation &receive);
    // Begins to receive the message of this offer, which the receive has matched. The receive's `received`
    // states how many bytes are to arrive. A call of ask_for_bulk() or copy() must follow.
    void begin(ReceiveOperation &receive, uint32_t peer, const Offered &offered);
    // Prepares for bulk, and requests the bytes unless they follow the offer without a request. False: the
    // peer has failed, so the receive has failed and end() has been called.
    bool ask_for_bulk();
    // Reads the bytes from that address of the peer's memory, or requests them in bulk if two copies are
    // likely to be faster. `attended`: the sender waits in its call. The result is that of
    // RendezvousReceives::accept().
    bool copy(uint64_t address, bool attended);
    // Takes the first bytes of the message from the payload of the offer's envelope, where they follow the
    // RendezvousOffer.
    void take_first(const std::byte *payload, size_t size);

    std::byte *place(uint32_t peer, uint64_t offset, size_t size) override;
    void bulk(uint32_t peer, uint64_t offset, const std::byte *payload, size_t size) override;
    void answer(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size) override;
    void renewed(uint32_t peer) override;
    void lost(uint32_t peer) override;

    // Stops all copies and returns this object to its pool. The caller then finishes the operation.
    void end();

private:
    bool takes_bulk(uint32_t peer, uint64_t offset, size_t size) const {
        return in_bulk_ && peer == peer_ && size <= wanted_ && offset <= wanted_ - size;
    }
    bool copy_directly();
    void expect_bulk();
    void ask_for_rest();
    void put(uint64_t offset, const std::byte *payload, size_t size);
    void complete_if_all();
    void finish_copied();
    void read_all() override { finish_copied(); }
    void read_refused() override { ask_for_bulk(); }
    void pieces_copied() override { finish_copied(); }
    void pieces_refused() override;
    void sender_is_absent() override;
    void trace(const char *what) const;

    Endpoint &endpoint_;
    CopyMethods &methods_;
    Spares<Incoming> &home_;
    ReceiveOperation *receive_ = nullptr;
    uint32_t peer_ = no_peer;  // the sender; no_peer: the receive has met no message
    Offered offered_{};
    uint64_t address_ = 0;  // of the message in the sender's memory, if it can be read there
    uint64_t wanted_ = 0;   // number of bytes to receive
    bool in_bulk_ = false;
    bool streamed_ = false;  // bulk is copied to its place by stores that bypass the caches
    bool watched_ = false;   // the rate of this message is measured (copy_methods.h)
    Arrived arrived_;        // which bytes have arrived in bulk
    Cursor cursor_;
    Moving moving_;
    DirectRead read_;
    PieceReader pieces_;
    PushRequest push_;
};

class RendezvousReceives {
public:
    explicit RendezvousReceives(Endpoint &endpoint) : endpoint_(endpoint) {}
    RendezvousReceives(const RendezvousReceives &) = delete;
    RendezvousReceives &operator=(const RendezvousReceives &) = delete;

    // Gives an id to a receive that is about to be announced. Bulk for the id is accepted once the receive
    // has matched an offer that names the id.
    uint64_t name(ReceiveOperation &receive);
    // Takes the id away from an announced receive that has ended or has met an offer that does not name it.
    // No effect on a receive without an id.
    void unname(ReceiveOperation &receive);
    // The number of receives that have an id but have met no message.
    size_t named() const { return named_; }

    // Begins the transfer of an offered message that a receive has matched. True: the sender sends the bytes.
    // The caller passes the payload of the offer to take_first() once all of it has arrived. False: the bytes
    // are copied through shared memory or from the sender's memory, or the sender has failed. In this case
    // the receive may have ended before accept() returns.
    bool accept(ReceiveOperation &receive, uint32_t peer, const Envelope &envelope, const std::byte *payload,
                size_t size);
    // Takes the first bytes of the message, which arrived with the accepted offer. `size` includes the
    // RendezvousOffer.
    void take_first(ReceiveOperation &receive, const std::byte *payload, size_t size);
    // Requests in bulk a message whose send has this id at the peer.
    void ask(ReceiveOperation &receive, uint32_t peer, uint64_t sender_id);

    CopyMethods &copy_methods() { return methods_; }

private:
    Incoming &take() { return incoming_.take(endpoint_, methods_, landing_, incoming_); }

    Endpoint &endpoint_;
    CopyMethods methods_;
    DirectRead::Landing landing_;
    size_t named_ = 0;
    Spares<Incoming> incoming_;
};

}  // namespace lanyard
