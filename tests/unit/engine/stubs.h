// What the engine's tests share: a path that carries nothing, to which tests add work of their own, and a
// sink that ignores everything.
#pragma once

#include <chrono>
#include <thread>

#include "path/path.h"

namespace lanyard {

inline void rest_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

class StubPath : public Path {
public:
    explicit StubPath(int descriptor = -1, bool batches = false)
        : Path({.name = "stub", .max_eager = 0, .max_bulk = 1, .batches = batches,
                .descriptor = descriptor}) {}
    StubPath(ShortLane &lane) : Path({.name = "stub", .max_eager = 0, .max_bulk = 1, .short_lane = &lane}) {}
    bool reaches(uint32_t) const override { return false; }
    Sent send(uint32_t, const Envelope &, Payload) override { return Sent::full; }
    Sent send_bulk(uint32_t, const BulkHeader &, Payload, uint64_t) override { return Sent::full; }
    std::string describe() const override { return "stub: work of a test"; }
};

class NoSink : public Sink {
    void envelope(uint32_t, const Envelope &, const std::byte *, size_t) override {}
    void bulk(uint32_t, const BulkHeader &, const std::byte *, size_t) override {}
    void sent(uint64_t) override {}
    void lost(uint32_t, Error reason) override { reason.discard(); }
};
inline NoSink no_sink;

}  // namespace lanyard
