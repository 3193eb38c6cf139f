// The eager protocol. The payload travels with the envelope, as far as the peer's credit lasts (channel.h).
// The receiver stores it until a receive takes it. A send is complete once its bytes are copied.
//
// If a path may have to send a long payload again, it need not copy it (PathInfo::keep_from). The send is
// then complete when the peer has acknowledged it, unless the call itself waits.
// Thread rule: the owner of the engine.
#pragma once

#include "base/spares.h"
#include "datatype/cursor.h"
#include "p2p/endpoint.h"
#include "p2p/unfinished_send.h"

namespace lanyard {

class Eager {
public:
    explicit Eager(Endpoint &endpoint) : endpoint_(endpoint) {}
    Eager(const Eager &) = delete;
    Eager &operator=(const Eager &) = delete;

    // May this many bytes go to the peer without a request?
    static bool fits(const Peer &peer, int64_t bytes) {
        return bytes <= static_cast<int64_t>(inline_payload) ||
               (bytes <= static_cast<int64_t>(peer.eager_limit) && Channels::cost(bytes) <= peer.credit_left);
    }
    // True: the message is sent, and nothing more is to be done. False: nothing has happened.
    bool send_now(Peer &peer, const MatchKey &key, const Buffer &buffer, uint32_t check);
    // Requires that the send fits() and that the peer has not failed.
    void send(SendOperation &send);
    size_t unfinished() const { return unfinished_.in_use(); }

private:
    // A send that waits for room, or for the acknowledgement of payload that the path keeps.
    class Unfinished final : public UnfinishedSend {
    public:
        explicit Unfinished(Eager &eager) : eager_(eager) { Outgoing::flush = flush; }
        void begin(SendOperation &send, bool kept);
        void cancel() override;
        void sent() override;
        void lost(uint32_t peer) override;

    private:
        static bool flush(Outgoing &outgoing);
        void end();

        Eager &eager_;
        SendOperation *send_ = nullptr;
        bool kept_ = false;
    };

    bool transmit(Peer &peer, const SendOperation &send);
    bool transmit(Peer &peer, Envelope &envelope, const Buffer &buffer);

    Endpoint &endpoint_;
    Spares<Unfinished> unfinished_;
};

}  // namespace lanyard
