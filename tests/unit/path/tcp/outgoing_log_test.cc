// Compares the log of a link with a list of frames: random appends, with payload copied or kept in place,
// writes of any length, acknowledgements and new connections.
#include "path/tcp/outgoing_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <vector>

#include "net/sim/random.h"
#include "sim/seeds.h"

namespace lanyard {
namespace {

using Bytes = std::vector<std::byte>;

struct Reference {
    struct Frame {
        bool is_envelope;
        uint64_t number;  // in an acknowledgement, the number of the next envelope
        Bytes bytes;
        size_t kept = 0;  // how many bytes at the end are kept in place
        uint64_t token = 0;
        Bytes *place = nullptr;  // where the kept bytes are
    };
    std::deque<Frame> frames;
    size_t written = 0;  // bytes, counted from the first frame
    std::vector<uint64_t> released;

    size_t kept_bytes() const {
        size_t sum = 0;
        for (const Frame &frame : frames) sum += frame.kept;
        return sum;
    }
    void copy_kept() {
        for (Frame &frame : frames) {
            if (!frame.token) continue;  // no completion waits for this frame
            if (frame.kept) released.push_back(frame.token);
            frame.kept = 0;
        }
    }
    size_t awaited_bytes() const {
        size_t sum = 0;
        for (const Frame &frame : frames) sum += frame.token ? frame.kept : 0;
        return sum;
    }
    std::vector<uint64_t> copied() const {  // the lengths in the envelopes of copied frames
        std::vector<uint64_t> lengths;
        for (const Frame &frame : frames) {
            if (!frame.is_envelope || frame.kept) continue;
            EnvelopeFrame whole;
            std::memcpy(&whole, frame.bytes.data(), sizeof whole);
            lengths.push_back(whole.envelope.length);
        }
        return lengths;
    }
    size_t bytes() const {
        size_t sum = 0;
        for (const Frame &frame : frames) sum += frame.bytes.size();
        return sum;
    }
    Bytes unwritten() const {
        Bytes all;
        for (const Frame &frame : frames) all.insert(all.end(), frame.bytes.begin(), frame.bytes.end());
        all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(written));
        return all;
    }
    void trim(uint64_t acknowledged) {
        while (!frames.empty()) {
            size_t size = frames.front().bytes.size();
            bool gone =
                frames.front().number < acknowledged || (!frames.front().is_envelope && size <= written);
            if (!gone) return;
            written -= std::min(written, size);
            if (frames.front().kept && frames.front().token) released.push_back(frames.front().token);
            frames.pop_front();
        }
    }
};

Bytes frame(FrameKind kind, uint64_t number, size_t payload, sim::Random &random, size_t check_bytes = 0) {
    Bytes bytes(sizeof(FrameHeader) + body_bytes(kind) + check_bytes + payload);
    for (std::byte &byte : bytes) byte = static_cast<std::byte>(random.next());
    FrameHeader header{kind, 0, 0, static_cast<uint32_t>(payload), static_cast<uint32_t>(number), 0};
    std::memcpy(bytes.data(), &header, sizeof header);
    return bytes;
}

Bytes unwritten_of(const OutgoingLog &log) {
    std::vector<iovec> parts(1000);
    int count = log.pieces(parts.data(), 1000);
    Bytes all;
    for (int i = 0; i < count; ++i) {
        auto *from = static_cast<std::byte *>(parts[static_cast<size_t>(i)].iov_base);
        all.insert(all.end(), from, from + parts[static_cast<size_t>(i)].iov_len);
    }
    return all;
}

std::vector<uint64_t> copied_in(const OutgoingLog &log) {
    std::vector<uint64_t> lengths;
    for (const Envelope &envelope : log.copied()) lengths.push_back(envelope.length);
    return lengths;
}

// Appends a frame to both logs. Its payload may stay in the program.
void append(OutgoingLog &log, Reference &reference, std::deque<Bytes> &program, std::deque<Bytes> &awaited,
            uint64_t &next, sim::Random &random, size_t check_bytes) {
    bool envelope = random.chance(80);
    size_t payload = envelope ? random.below(random.chance(20) ? 10'000 : 100) : 0;
    Bytes bytes =
        frame(envelope ? FrameKind::envelope : FrameKind::acknowledge, next, payload, random, check_bytes);
    size_t kept = payload && random.chance(30) ? 1 + random.below(payload) : 0;
    uint64_t token = kept && random.chance(70) ? next + 1 : 0;
    Bytes *at = nullptr;
    if (kept) {
        auto &place = token ? awaited : program;
        at = &place.emplace_back(bytes.end() - static_cast<std::ptrdiff_t>(kept), bytes.end());
        std::memcpy(log.append_kept(bytes.size(), at->data(), kept, token, next + 1), bytes.data(),
                    bytes.size() - kept);
    } else {
        std::memcpy(log.append(bytes.size()), bytes.data(), bytes.size());
    }
    reference.frames.push_back({envelope, next, bytes, kept, token, at});
    next += envelope;
}

// Some payload that is kept without a token is elsewhere from now on.
void move_some(OutgoingLog &log, Reference &reference, std::deque<Bytes> &program, sim::Random &random) {
    for (Reference::Frame &each : reference.frames) {
        if (!each.kept || each.token || !random.chance(50)) continue;
        Bytes &old = *each.place;
        each.place = &program.emplace_back(old);
        log.kept_moved(each.number + 1, each.place->data());
        std::fill(old.begin(), old.end(), std::byte{});
    }
}

void compare(uint64_t seed, size_t check_bytes) {
    SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
    sim::Random random(seed);
    SpareBlocks spare;
    OutgoingLog log(spare, check_bytes);
    Reference reference;
    std::deque<Bytes> program, awaited;  // kept payload
    std::vector<uint64_t> released;
    uint64_t next = 0xffffff80, acknowledged = next;  // numbers on the wire pass 2^32
    log.acknowledged(acknowledged);
    for (int turn = 0; turn < 400; ++turn) {
        switch (random.below(8)) {
            case 0:
            case 1: append(log, reference, program, awaited, next, random, check_bytes); break;
            case 2:
            case 3: {
                size_t some = random.below(log.unwritten() + 1);
                if (some == 0) break;
                log.written(some);
                reference.written += some;
                reference.trim(acknowledged);
                break;
            }
            case 4: {  // acknowledges some of what has been written completely
                size_t at = 0;
                uint64_t most = acknowledged;
                for (const auto &each : reference.frames) {
                    at += each.bytes.size();
                    if (at <= reference.written && each.is_envelope) most = each.number + 1;
                }
                ASSERT_TRUE(log.has_written(most));
                ASSERT_TRUE(next == most || !log.has_written(most + 1));
                acknowledged += random.below(most - acknowledged + 1);
                log.acknowledged(acknowledged);
                reference.trim(acknowledged);
                break;
            }
            case 6: {
                if (!random.chance(20)) break;
                log.copy_kept();
                reference.copy_kept();
                for (Bytes &each : awaited) std::fill(each.begin(), each.end(), std::byte{});
                awaited.clear();
                break;
            }
            case 7:
                move_some(log, reference, program, random);
                break;
            case 5: {  // a new connection, whose peer may have received more than it has acknowledged
                if (!random.chance(20)) break;
                log.rewind();
                reference.written = 0;
                acknowledged += random.below(next - acknowledged + 1);
                log.acknowledged(acknowledged);
                reference.trim(acknowledged);
                break;
            }
        }
        ASSERT_EQ(log.bytes(), reference.bytes() - reference.kept_bytes());
        ASSERT_EQ(log.awaited_bytes(), reference.awaited_bytes());
        log.take_released(released);
        ASSERT_EQ(released, reference.released);
        ASSERT_EQ(unwritten_of(log), reference.unwritten());
        ASSERT_EQ(log.unwritten(), reference.unwritten().size());
        ASSERT_EQ(log.empty(), reference.frames.empty());
        ASSERT_EQ(copied_in(log), reference.copied());
    }
}

TEST(OutgoingLog, IsLikeAListOfFrames) {
    sim::for_seeds(30, 10, [](uint64_t seed) {
        compare(seed, seed % 2 ? sizeof(FrameCheck) : 0);
        return !::testing::Test::HasFailure();
    });
}

TEST(OutgoingLog, KeepsNoMemoryWhenItIsEmpty) {
    sim::Random random(1);
    SpareBlocks spare;
    OutgoingLog first(spare), other(spare);
    Bytes bytes = frame(FrameKind::envelope, 0, 8, random);
    std::memcpy(first.append(bytes.size()), bytes.data(), bytes.size());
    EXPECT_TRUE(spare.list.empty());
    first.written(bytes.size());
    first.acknowledged(1);
    EXPECT_EQ(spare.list.size(), 1u);
    other.append(bytes.size());
    EXPECT_TRUE(spare.list.empty()) << "the block is used again";
}

TEST(OutgoingLog, UsesTheMemoryOfLongFramesAgain) {
    sim::Random random(1);
    SpareBlocks spare;
    Bytes bytes = frame(FrameKind::envelope, 0, 64 << 10, random);
    {
        OutgoingLog log(spare);
        std::memcpy(log.append(bytes.size()), bytes.data(), bytes.size());
        EXPECT_EQ(spare.longer.kept_bytes(), 0u);
        log.written(bytes.size());
        log.acknowledged(1);
        EXPECT_GE(spare.longer.kept_bytes(), bytes.size());
        log.append(bytes.size());
        EXPECT_EQ(spare.longer.kept_bytes(), 0u) << "the block is used again";
    }
    EXPECT_GE(spare.longer.kept_bytes(), bytes.size()) << "a log that ends returns its blocks";
}

TEST(Frame, NumbersAreWidenedNearWhatIsKnown) {
    EXPECT_EQ(widened(5, 3), 5u);
    EXPECT_EQ(widened(0xffffffff, 0x100000003), 0xffffffffu);
    EXPECT_EQ(widened(2, 0xfffffffe), 0x100000002u);
    EXPECT_EQ(widened(2, 0x5fffffffe), 0x600000002u);
}

}  // namespace
}  // namespace lanyard
