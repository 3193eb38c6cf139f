// Implements the eager protocol. The payload travels with the envelope, if the peer's credit covers it
// (channel.h). The receiver stores the payload until a receive takes it. A send is complete once its bytes
// are copied.
//
// A path that may have to send a long payload again can leave the payload in the program's buffer instead of
// copying it (PathInfo::keep_from). The send is then complete when the peer has acknowledged the message, or
// when the path has copied the payload after all. send_now(), which blocking sends try first, always copies.
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
    // Requires that nothing waits in the channel (is_clear()), that fits() is true, and that the peer has not
    // failed. True: the payload has been copied, and the send is complete. False: nothing has happened.
    bool send_now(Peer &peer, const MatchKey &key, const Buffer &buffer, uint32_t check);
    // Requires that fits() is true and that the peer has not failed. The operation may complete before the
    // return.
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
