// Provides a node's segment, mapped by each of its members separately, and a sink that records what arrives.
// For tests of the parts of ShmPath.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "conformance/recorder.h"
#include "path/shm/segment.h"

namespace lanyard {

class Node {
public:
    explicit Node(uint32_t members) : segments_(members) {
        int file = memfd_create("lanyard-test", MFD_CLOEXEC);
        LANYARD_MUST(!segments_[0].create(file, members));
        for (Segment &segment : segments_) LANYARD_MUST(!segment.attach(dup(file)));
        close(file);
    }
    // The segment as this member has mapped it.
    Segment &of(uint32_t member) { return segments_[member]; }
    SegmentHeader &header() { return segments_[0].header(); }

private:
    std::deque<Segment> segments_;
};

// An envelope, or bulk, with its payload.
struct NotedFrame {
    bool bulk;
    uint32_t peer;
    uint64_t number;
    std::vector<std::byte> payload;

    bool operator==(const NotedFrame &) const = default;
};

inline std::vector<std::byte> content(uint64_t number, size_t size) {
    std::vector<std::byte> bytes(size);
    for (size_t i = 0; i < size; ++i) bytes[i] = conformance::pattern(number, i);
    return bytes;
}

inline Envelope numbered(uint64_t number, size_t size) {
    Envelope envelope{};
    envelope.context = number;
    envelope.length = size;
    return envelope;
}

struct NotingSink final : Sink {
    void envelope(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size) override {
        EXPECT_EQ(envelope.length, size);
        frames.push_back({false, peer, envelope.context, {payload, payload + size}});
    }
    void bulk(uint32_t peer, const BulkHeader &header, const std::byte *payload, size_t size) override {
        EXPECT_EQ(header.offset, header.receive_id + 5);
        frames.push_back({true, peer, header.receive_id, {payload, payload + size}});
    }
    void sent(uint64_t) override {}
    void lost(uint32_t, Error reason) override { FAIL() << reason.take().sentence; }

    std::vector<NotedFrame> frames;
};

}  // namespace lanyard
