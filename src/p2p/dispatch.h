// The sink of every path: passes everything that arrives from peers to the class that handles it.
//
//   a message (eager, rendezvous)      to the receiver (receiver.h)
//   an envelope of a kind bound here   to its handler: a protocol of p2p, or of a layer above it
//   an envelope of any other kind      to the target that its context names (target.h), if that exists
//   bulk                               to the target that its header names
//   the failure of a peer              to all handlers, including the receiver; then to all targets
//
// Credit that an envelope returns is added to the channel before the envelope is passed on. An envelope of
// the kind `credit` goes nowhere else.
// Thread rule: the owner of the engine.
#pragma once

#include <array>

#include "p2p/endpoint.h"
#include "p2p/handler.h"
#include "p2p/receiver.h"
#include "p2p/retention.h"

namespace lanyard {

class Dispatch final : public Sink {
public:
    Dispatch(Endpoint &endpoint, Receiver &receiver, Retention &retention)
        : endpoint_(endpoint), receiver_(receiver), retention_(retention) {}
    Dispatch(const Dispatch &) = delete;
    Dispatch &operator=(const Dispatch &) = delete;

    // A kind has one handler. The handler must live until it is unbound or MPI ends.
    void bind(EnvelopeKind kind, Handler &handler);
    // Unbinds the handler from all its kinds. Allowed within a handler too; envelopes of these kinds that
    // arrive later go to the target that they name.
    void unbind(const Handler &handler);

    void envelope(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size) override;
    std::byte *begin(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t received,
                     size_t size, size_t &from) override {
        return receiver_.begin(peer, envelope, payload, received, size, from);
    }
    std::byte *place(uint32_t peer, const BulkHeader &header, size_t size) override;
    void bulk(uint32_t peer, const BulkHeader &header, const std::byte *payload, size_t size) override;
    void renewed(uint32_t peer) override;
    void sent(uint64_t token) override;
    void undelivered(uint32_t peer, const Envelope &envelope) override;
    void lost(uint32_t peer, Error reason) override;
    bool wait_is_over() const override { return endpoint_.engine.wait_is_over(); }
    void trim_memory() override {
        receiver_.unexpected().give_back();
        retention_.give_back();
    }

private:
    void hand_on(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size);

    Endpoint &endpoint_;
    Receiver &receiver_;
    Retention &retention_;
    std::array<Handler *, kinds_of_envelopes> handlers_{};
};

}  // namespace lanyard
