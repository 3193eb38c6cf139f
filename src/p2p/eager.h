// The eager protocol: the payload travels with the envelope, as far as the peer's credit goes (channel.h), and its
// receiver keeps it until a receive takes it. A send is over when its bytes are copied.
//
// Long payload need not be copied where a path may have to send it again (Path::keep_from): the send is over when the
// peer has acknowledged it, unless the call itself waits.
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

    // May so many bytes go to the peer without being asked for?
    static bool fits(const Peer &peer, int64_t bytes) {
        return bytes <= static_cast<int64_t>(inline_payload) ||
               (bytes <= static_cast<int64_t>(peer.eager_limit) && Channels::cost(bytes) <= peer.credit_left);
    }
    // True when the message is sent, and nothing more is to be done; else nothing has happened.
    bool send_now(Peer &peer, const MatchKey &key, const Buffer &buffer, uint32_t check);
    // A send that fits, to a peer that is not lost.
    void send(SendOperation &send);
    size_t unfinished() const { return unfinished_.in_use(); }

private:
    // Waits for room, or for the acknowledgement of what the path keeps.
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
