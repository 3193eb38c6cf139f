// The receiver's half of the rendezvous (rendezvous_send.h has the other): how the bytes of an accepted offer
// arrive.
//
//   in bulk      requested with the receive's id, or sent without request to a receive that the offer names
//                (receive_advert.h). The receive is complete when every byte is there, in any order.
//   directly     read from the sender's memory, if that can be accessed (direct_read.h). For long contiguous
//                messages the sender writes a part itself meanwhile, if it is inside MPI (dual_copy.h).
//   pushed       in bulk although it could be read, if a sender that may be inside MPI answers within
//                a moment (push_request.h). Two copies at the same time are sometimes faster than one. The
//                receiver measures which is faster (copy_methods.h).
//
// A receive has an id for one message only. Bulk counts only if the receive has matched the offer that
// belongs to it, and an announced receive that meets another offer gets a new id. All other frames for an id
// are dropped. After a new connection the receiver requests again what is missing.
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

// One message on its way to its receive. It owns its state until end(), which every way to complete or fail
// it calls.
class Incoming final : public Target,
                       private DirectRead::User,
                       private PieceReader::User,
                       private PushRequest::User {
public:
    // `home`: the pool to which it returns.
    Incoming(Endpoint &endpoint, CopyMethods &methods, DirectRead::Landing &landing, Spares<Incoming> &home);

    // What the offer states beside its envelope.
    struct Offered {
        uint64_t sender_id;
        uint64_t first = 0;         // bytes that arrive with the offer
        bool sent_unasked = false;  // the remaining bytes follow without a request
    };

    void announce(ReceiveOperation &receive);
    void begin(ReceiveOperation &receive, uint32_t peer, const Offered &offered);
    bool ask_for_bulk();
    bool copy(uint64_t address, bool attended);
    void take_first(const std::byte *payload, size_t size);

    std::byte *place(uint32_t peer, uint64_t offset, size_t size) override;
    void bulk(uint32_t peer, uint64_t offset, const std::byte *payload, size_t size) override;
    void answer(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size) override;
    void renewed(uint32_t peer) override;
    void lost(uint32_t peer) override;

    // Ends it, before its operation is finished.
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
    uint64_t address_ = 0;  // of the sender's bytes, if they can be read
    uint64_t wanted_ = 0;   // bytes
    bool in_bulk_ = false;
    bool streamed_ = false;  // bulk is copied to its place by stores that bypass the caches
    bool watched_ = false;   // its rate is measured (copy_methods.h)
    Arrived arrived_;        // of bulk
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

    // Gives a receive that is about to be announced an id. Bulk for the id counts once an offer has named it.
    uint64_t name(ReceiveOperation &receive);
    // The announced receive has ended, or something else will meet it.
    void unname(ReceiveOperation &receive);
    // The number of receives that have an id but have met nothing.
    size_t named() const { return named_; }

    // A receive has matched an offer. True: the sender sends the bytes. The first of them travel with the
    // offer and must be passed to take_first() when they are here. False: they are read from the sender's
    // memory, and the receive may have ended.
    bool accept(ReceiveOperation &receive, uint32_t peer, const Envelope &envelope, const std::byte *payload,
                size_t size);
    // The first bytes of an accepted offer are here; `size` includes the offer itself.
    void take_first(ReceiveOperation &receive, const std::byte *payload, size_t size);
    // Requests in bulk a message that the peer offers under this id.
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
