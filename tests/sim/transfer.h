// Holds a send operation or a receive operation, for tests that keep both in one list.
#pragma once

#include "p2p/messenger.h"

namespace lanyard::sim {

struct Transfer {
    explicit Transfer(bool is_send) : sends(is_send) {}

    // `peer` is the process at the other end, or no_peer for a receive from any source.
    void describe(const MatchKey &key, const Buffer &buffer, uint32_t peer) {
        (sends ? static_cast<MatchKey &>(out) : static_cast<MatchKey &>(in)) = key;
        own().buffer = buffer;
        own().peer = peer;
    }
    void start(Messenger &messenger) {
        if (sends) messenger.send(out);
        else messenger.receive(in);
    }
    void cancel(Messenger &messenger) {
        if (sends) messenger.cancel(out);
        else messenger.cancel(in);
    }
    // The part that send and receive operations have in common.
    MessageOperation &own() {
        return sends ? static_cast<MessageOperation &>(out) : static_cast<MessageOperation &>(in);
    }
    bool done() { return own().completion.complete(); }

    const bool sends;
    SendOperation out;
    ReceiveOperation in;
};

}  // namespace lanyard::sim
