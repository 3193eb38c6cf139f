// Makes the content of the frames that a peer of the conformance suite sends, and checks the frames that a
// peer receives. The content of a frame depends only on (sender, receiver, number). The receiver can
// therefore check each byte and recognise frames that are missing, late or duplicated.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "path/path.h"
#include "net/sim/random.h"
#include "sim/spread_type.h"

namespace lanyard::conformance {

inline std::byte pattern(uint64_t key, size_t i) {
    return static_cast<std::byte>(key * 131 + i * 7 + (i >> 8));
}
inline uint64_t key_of(uint32_t from, uint32_t to, uint64_t number) {
    return (uint64_t{from} << 8 | to) * 1000003 + number;
}

// `size` bytes to send, in one piece or, if `scattered`, in blocks of three bytes with gaps.
class Content {
public:
    Content(uint64_t key, size_t size, bool scattered) : size_(size) {
        if (!scattered || size % 3 != 0) {
            memory_.resize(size + 1);
            // The payload begins at an odd address, so that no path can rely on alignment.
            for (size_t i = 0; i < size; ++i) memory_[i + 1] = pattern(key, i);
            return;
        }
        const Datatype &blocks = sim::spread_type();
        memory_.resize(size / 3 * static_cast<size_t>(blocks.extent) + 1);
        cursor_ = Cursor({memory_.data(), static_cast<int64_t>(size / 3), &blocks});
        std::vector<std::byte> packed(size);
        for (size_t i = 0; i < size; ++i) packed[i] = pattern(key, i);
        cursor_.unpack(packed.data(), size);
        cursor_.seek(0);
        scattered_ = true;
    }
    Payload payload() {
        return scattered_ ? Payload{nullptr, size_, &cursor_} : Payload{memory_.data() + 1, size_, nullptr};
    }
    bool scattered() const { return scattered_; }
    int64_t position() const { return cursor_.position(); }
    void scribble() { std::fill(memory_.begin(), memory_.end(), std::byte{0xee}); }

private:
    size_t size_;
    std::vector<std::byte> memory_;
    Cursor cursor_;
    bool scattered_ = false;
};

// Checks what arrives at one peer.
class Recorder final : public Sink {
public:
    explicit Recorder(uint32_t own) : own_(own) {}

    void envelope(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size) override {
        ++calls;
        EXPECT_EQ(envelope.context, next_envelope[peer])
            << "envelopes from " << peer << " to " << own_ << " are out of order";
        next_envelope[peer] = envelope.context + 1;
        EXPECT_EQ(envelope.length, size);
        EXPECT_EQ(envelope.source, static_cast<int32_t>(peer));
        EXPECT_EQ(envelope.tag, static_cast<int32_t>(own_));
        EXPECT_EQ(envelope.check, static_cast<uint32_t>(envelope.context * 77));
        check(key_of(peer, own_, envelope.context), payload, size);
        if (when_envelope) when_envelope(peer, envelope);
    }
    // A path may deliver bulk in several parts. It may deliver bytes again only if `repeats_bulk`
    // is set.
    void bulk(uint32_t peer, const BulkHeader &header, const std::byte *payload, size_t size) override {
        ++calls;
        size_t whole = bulk_size(peer, header.receive_id);
        uint64_t first = header.receive_id * 5 + whole;
        ASSERT_TRUE(size > 0 && header.offset >= first && header.offset + size <= first + whole)
            << "bulk of another place arrived";
        size_t begin = header.offset - first;
        check(key_of(peer, own_, header.receive_id), payload, size, begin);
        std::vector<uint8_t> &received = bulk_arrived_[{peer, header.receive_id}];
        received.resize(whole);
        auto from = received.begin() + static_cast<std::ptrdiff_t>(begin),
             until = from + static_cast<std::ptrdiff_t>(size);
        EXPECT_TRUE(repeats_bulk || std::find(from, until, 1) == until)
            << "bulk frame " << header.receive_id << " arrived twice";
        std::fill(from, until, uint8_t{1});
        if (std::find(received.begin(), received.end(), 0) == received.end())
            bulk_seen.insert({peer, header.receive_id});
    }
    void sent(uint64_t token) override {
        EXPECT_TRUE(polling) << "sent() must come from inside poll";
        EXPECT_EQ(pending.erase(token), 1u) << "sent() of what is not pending, or twice";
    }
    void lost(uint32_t peer, Error reason) override {
        ++calls;
        EXPECT_TRUE(static_cast<bool>(reason)) << "a loss has a reason";
        reason.discard();
        EXPECT_TRUE(lost_peers.insert(peer).second) << "peer " << peer << " was reported lost twice";
    }

    std::map<uint32_t, uint64_t> next_envelope;  // indexed by sender
    std::set<std::pair<uint32_t, uint64_t>> bulk_seen;
    // indexed by token; the content must not change until sent() is called
    std::map<uint64_t, Content> pending;
    std::set<uint32_t> lost_peers;
    int calls = 0;
    bool polling = false;
    bool repeats_bulk = false;
    std::function<void(uint32_t, const Envelope &)> when_envelope;
    // returns the size of the bulk that was sent
    std::function<size_t(uint32_t from, uint64_t receive_id)> bulk_size;

private:
    void check(uint64_t key, const std::byte *payload, size_t size, size_t begin = 0) {
        size_t good = 0;
        while (good < size && payload[good] == pattern(key, begin + good)) ++good;
        EXPECT_EQ(good, size) << "byte " << good << " of a frame to " << own_ << " is wrong";
    }

    uint32_t own_;
    // One element for each byte of a bulk, 1 if the byte has arrived.
    std::map<std::pair<uint32_t, uint64_t>, std::vector<uint8_t>> bulk_arrived_;
};

}  // namespace lanyard::conformance
