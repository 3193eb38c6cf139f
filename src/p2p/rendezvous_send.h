// Implements the sender's half of the rendezvous. An offer travels first, and the receiver's answer decides
// how the bytes move. The rendezvous is used for long messages, for messages that the peer's credit does not
// cover, and for synchronous sends.
//
// Sender               Receiver (reads)        |  Sender               Receiver (two copies)
//   rendezvous ------>  match                  |    rendezvous ------>  match
//              <------  finished (after get)   |               <------  clear_to_send
//                                              |    bulk, bulk ------>  complete
//
// On a path that may lose bulk (PathInfo::loses_bulk; TCP), the first bytes travel with the offer as far as
// the credit lasts, so that the sender has something to send until the answer arrives. If the sender knows an
// announced receive that the message will meet, the offer names this receive (receive_advert.h), and all
// bytes follow without a request. Within a node the sender may write into an announced receive at once
// (shm_write.h).
//
// The send is complete when the receiver reports `finished`. (A blocking send may be complete before, if the
// library has copied the message: retention.h.) On paths that lose no bulk, a send whose bytes
// were requested is also complete when all bytes have left the buffer. After a new connection the receiver
// requests the missing bytes, so a requested push pauses until that request arrives. A push to an announced
// receive starts again by itself, unless a request has replaced it.
// Thread rule: the owner of the engine.
#pragma once

#include <unordered_map>

#include "base/spares.h"
#include "p2p/announcements.h"
#include "p2p/bulk_push.h"
#include "p2p/dual_copy.h"
#include "p2p/endpoint.h"
#include "p2p/handler.h"
#include "p2p/rendezvous_offer.h"
#include "p2p/shm_write.h"
#include "p2p/unfinished_send.h"

namespace lanyard {

class RendezvousSends final : public Handler {
public:
    explicit RendezvousSends(Endpoint &endpoint) : endpoint_(endpoint) {}
    RendezvousSends(const RendezvousSends &) = delete;
    RendezvousSends &operator=(const RendezvousSends &) = delete;

    // Starts a send. Requires that the peer has not failed. The operation may complete before the return.
    void send(SendOperation &send);
    // Stores the announcement of a receive that the peer has posted (EnvelopeKind::announcement).
    void envelope(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size) override;
    void lost(uint32_t peer) override {
        if (Announcements *known = announced_by(peer)) known->clear();
    }
    // Visits the sends that were offered and whose receiver has not yet requested the bytes or finished.
    template <class Visit>
    void each_offered(Visit visit) {
        for (Offer *offer = open_.front(); offer; offer = open_.after(*offer))
            if (const SendOperation *send = offer->offered()) visit(*send);
    }

private:
    class Offer final : public UnfinishedSend, private BulkPush::User, private ShmWrite::User {
    public:
        explicit Offer(RendezvousSends &sends);
        void begin(SendOperation &send);
        // The send, if its offer has been sent and the receiver has neither requested the bytes nor finished.
        // Else nullptr, in particular while the offer is still queued or the bytes are moving.
        const SendOperation *offered() const { return state_ == State::offered ? send_ : nullptr; }
        void answer(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size) override;
        void sent() override;
        void renewed(uint32_t peer) override;
        void lost(uint32_t peer) override;
        void cancel() override;
        bool can_hand_over() const override;
        void hand_over(SendOperation &to) override;

        Hook open_hook;

    private:
        enum class State : uint8_t { queued, offered, moving };

        static bool flush(Outgoing &outgoing);
        bool claim();
        Sent transmit(Envelope &envelope, const RendezvousOffer &offer);
        void push_announced(const AnnouncedReceive &receive);
        void push_behind_first();
        void cleared(uint32_t peer, const Envelope &envelope, const std::byte *payload);
        void received_by_peer();
        void pushed() override;
        void written() override;
        void write_refused() override { state_ = State::offered; }
        void begin_moving();
        void trace(const char *what) const;
        void finish(Error error = {});

        RendezvousSends &sends_;
        Endpoint &endpoint_;
        SendOperation *send_ = nullptr;
        State state_ = State::queued;
        bool announced_ = false;  // its bulk goes to an announced receive, and the peer has sent no request
        bool in_place_ = false;   // the buffer of that receive is contiguous
        bool cancelling_ = false;
        bool received_ = false;  // the peer has the message or dropped it; frames may still leave the buffer
        uint64_t receiver_id_ = 0;
        uint64_t first_ = 0;  // the number of bytes that travelled with the offer
        uint64_t offered_ns_ = 0;  // when the message was offered with flag_mapped; else 0
        Moving moving_;
        BulkPush push_;
        PieceWriter help_;
        ShmWrite write_;
    };

    // The stored announcements of a peer; nullptr if the peer has never announced a receive.
    Announcements *announced_by(uint32_t peer) {
        auto place = announcements_.find(peer);
        return place == announcements_.end() ? nullptr : &place->second;
    }
    const AnnouncedReceive *announced_for(const SendOperation &send);
    void tell(const SendOperation &send, uint64_t id) const;

    Endpoint &endpoint_;
    std::unordered_map<uint32_t, Announcements> announcements_;  // by the peer that posted the receives
    List<Offer, &Offer::open_hook> open_;
    Spares<Offer> spares_;
};

}  // namespace lanyard
