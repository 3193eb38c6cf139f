// SelfPath is the path of a process to itself. Frames are copied into a queue and delivered by a later poll,
// so that a send never runs a receive's handlers while the code that sends is still in the middle of its
// work. This path is always the first in the list of paths.
// Thread rule: the owner of the engine.
// Tested by: tests/conformance/conformance_test.cc.
#pragma once

#include <deque>
#include <vector>

#include "path/path.h"

namespace lanyard {

class SelfPath final : public Path, private DirectMemory {
public:
    explicit SelfPath(uint32_t own_peer)
        : Path({.name = "self", .max_eager = 65536, .max_bulk = 65536, .memory = this}), own_peer_(own_peer) {
    }

    bool reaches(uint32_t peer) const override { return peer == own_peer_; }
    Sent send(uint32_t peer, const Envelope &envelope, Payload payload) override;
    Sent send_bulk(uint32_t peer, const BulkHeader &header, Payload payload, uint64_t token) override;
    PathActivity activity() const override { return {.io_pending = !frames_.empty()}; }
    int poll(Sink &sink, int budget, uint64_t now_ns) override;
    uint64_t deadline_ns() const override { return frames_.empty() ? no_deadline : 0; }
    std::string describe() const override { return "self: messages of a process to itself"; }

private:
    struct Frame {
        bool bulk;
        Envelope envelope;
        BulkHeader header;
        std::vector<std::byte> payload;
    };

    bool touches(uint32_t) override { return true; }
    Error get(uint32_t peer, const iovec *local, int runs, uint64_t remote_address, size_t bytes) override;

    uint32_t own_peer_;
    std::deque<Frame> frames_;
};

}  // namespace lanyard
