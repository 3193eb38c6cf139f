// Tests the form of packets: what is written is read back, and what is damaged, cut off or senseless is
// refused.
#include "path/dgram/packet.h"

#include <gtest/gtest.h>

#include "net/sim/random.h"

namespace lanyard::dgram {
namespace {

Envelope envelope_of(uint64_t context) {
    Envelope made{};
    made.context = context;
    made.kind = EnvelopeKind::eager;
    return made;
}

std::vector<std::byte> bytes_of(std::string_view text) {
    auto *bytes = reinterpret_cast<const std::byte *>(text.data());
    return {bytes, bytes + text.size()};
}

// Headers at the limits of the forms that bulk has.
std::vector<BulkHeader> bulk_headers() {
    std::vector<BulkHeader> all;
    for (uint64_t id : {uint64_t{0}, uint64_t{1} << 24, usual_receive_ids - 1, usual_receive_ids, UINT64_MAX})
        for (uint64_t offset :
             {uint64_t{0}, near_offsets - 1, near_offsets, usual_offsets - 1, usual_offsets, UINT64_MAX - 4})
            all.push_back({id, offset});
    return all;
}

std::string text_of(const Frame &frame) {
    return {reinterpret_cast<const char *>(frame.payload), frame.size};
}

struct Written {
    std::byte bytes[2000];
    FrameWriter writer{bytes, sizeof bytes};
    std::span<const std::byte> frames() const { return {bytes, writer.size()}; }
    void copy(std::string_view text) { writer.copy(bytes_of(text).data(), text.size()); }
};

int readable(std::span<const std::byte> frames) {
    FrameReader reader(frames);
    Frame frame;
    int count = 0;
    while (reader.next(frame)) ++count;
    return reader.malformed() ? -1 : count;
}

class Header : public testing::TestWithParam<bool> {};

TEST_P(Header, IsKeptAndItsDamageFound) {
    Crc32c crc = Crc32c::built_in();
    std::byte packet[100] = {};
    std::vector<std::byte> tail = bytes_of("a tail elsewhere");
    PacketHeader written{most_processes - 2, GetParam(), 0xfe23456789, 0x9234abcd, 0xfeedbeef, 3};
    write_header(packet, written);
    seal(crc, packet, 40, tail.data(), tail.size());
    std::copy(tail.begin(), tail.end(), packet + 40);
    std::span<const std::byte> whole(packet, 40 + tail.size());
    PacketHeader header;
    ASSERT_TRUE(read_header(crc, whole, header));
    EXPECT_EQ(header.bytes(), GetParam() ? 24u : 16u);
    EXPECT_EQ(header.from, written.from);
    EXPECT_EQ(header.introduces, GetParam());
    EXPECT_EQ(header.proof, written.proof);
    EXPECT_EQ(header.number, written.number);
    EXPECT_EQ(header.from_epoch, GetParam() ? 0xfeedbeefu : 0);
    EXPECT_EQ(header.to_epoch, GetParam() ? 3u : 0);
    uint32_t sender;
    ASSERT_TRUE(read_sender(whole, sender));
    EXPECT_EQ(sender, written.from);
    EXPECT_FALSE(read_header(crc, whole.first(whole.size() - 1), header));
    for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
        packet[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
        EXPECT_FALSE(read_header(crc, whole, header)) << bit;
        packet[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    }
}

TEST_P(Header, IsNotCutOff) {
    Crc32c crc = Crc32c::built_in();
    std::byte packet[30] = {};
    PacketHeader written{7, GetParam(), 1, number_field(1), 2, 3}, header;
    for (size_t size = 0; size < sizeof packet; ++size) {
        write_header(packet, written);
        if (size >= check_bytes) seal(crc, packet, size, nullptr, 0);
        EXPECT_EQ(read_header(crc, {packet, size}, header), size >= written.bytes()) << size;
    }
}

INSTANTIATE_TEST_SUITE_P(Forms, Header, testing::Bool());

TEST(Packet, ProofsAreOfBothEndsAndInTheUsualFormOfBothEpochs) {
    Secret secret, other;
    Secret::parse(std::string(64, '7'), secret);
    Secret::parse(std::string(64, '8'), other);
    std::vector<uint64_t> proofs{introducing_proof(secret, 1, 2), introducing_proof(secret, 2, 1),
                                 introducing_proof(other, 1, 2),  usual_proof(secret, 1, 2, 3, 4),
                                 usual_proof(secret, 2, 1, 3, 4), usual_proof(secret, 1, 2, 4, 3),
                                 usual_proof(secret, 1, 2, 3, 5), usual_proof(secret, 1, 2, 9, 4),
                                 usual_proof(other, 1, 2, 3, 4),  usual_proof(secret, 1, 2, 0, 0)};
    for (size_t i = 0; i < proofs.size(); ++i) {
        EXPECT_LE(proofs[i], proof_mask);
        for (size_t j = 0; j < i; ++j) EXPECT_NE(proofs[i], proofs[j]) << i << " and " << j;
    }
}

TEST(Packet, HasSmallHeadersForOneEnvelopeAndForBulk) {
    Written envelope, bulk;
    envelope.writer.envelope(0, envelope_of(1), rest);
    EXPECT_EQ(usual_header_bytes + envelope.writer.size(), 52u);
    bulk.writer.bulk({usual_receive_ids - 1, near_offsets - 1});
    EXPECT_EQ(usual_header_bytes + bulk.writer.size(), 23u);
}

// Each frame is as long as its constant states, with and without its size.
TEST(Packet, FramesAreAsLongAsIsSaid) {
    auto length = [](auto write) {
        Written written;
        write(written.writer);
        return written.writer.size();
    };
    for (bool said : {false, true}) {
        size_t size = said ? 5 : rest, more = said ? size_bytes : 0;
        EXPECT_EQ(length([&](FrameWriter &to) { to.envelope(1, envelope_of(1), size); }),
                  envelope_frame_bytes + more);
        EXPECT_EQ(length([&](FrameWriter &to) { to.next(envelope_of(1), size); }), next_frame_bytes + more);
        EXPECT_EQ(length([&](FrameWriter &to) { to.beginning(1, envelope_of(1), size, 9); }),
                  beginning_frame_bytes + more);
        EXPECT_EQ(length([&](FrameWriter &to) { to.part(1, size, 9); }), part_frame_bytes + more);
    }
    for (const BulkHeader &bulk : bulk_headers())
        EXPECT_EQ(length([&](FrameWriter &to) { to.bulk(bulk); }), bulk_frame_bytes(bulk));
    EXPECT_EQ(length([&](FrameWriter &to) { to.acknowledge({}); }), acknowledge_frame_bytes);
    Acknowledgement late;
    late.away_us = 50;
    EXPECT_EQ(length([&](FrameWriter &to) { to.acknowledge(late); }), acknowledge_frame_bytes + away_bytes);
    EXPECT_EQ(length([&](FrameWriter &to) { to.move_on(1); }), move_on_frame_bytes);
    EXPECT_EQ(length([&](FrameWriter &to) { to.probe(); }), probe_frame_bytes);
    EXPECT_EQ(length([&](FrameWriter &to) { to.end(EndReason::closed, 1); }), end_frame_bytes);
}

TEST(Packet, TheLastPayloadTakesTheRest) {
    auto last = [](auto write, FrameKind kind) {
        Written written;
        written.writer.envelope(4, envelope_of(5), 3);
        written.copy("one");
        EXPECT_FALSE(written.writer.closed());
        write(written.writer);
        EXPECT_TRUE(written.writer.closed());
        written.copy("the rest");
        FrameReader reader(written.frames());
        Frame frame;
        EXPECT_TRUE(reader.next(frame) && reader.next(frame));
        EXPECT_EQ(frame.kind, kind);
        EXPECT_EQ(text_of(frame), "the rest");
        EXPECT_FALSE(reader.next(frame) || reader.malformed());
        return frame;
    };
    Frame frame = last([](FrameWriter &to) { to.envelope(5, envelope_of(6), rest); }, FrameKind::envelope);
    EXPECT_EQ(frame.total, 8u);
    EXPECT_EQ(frame.sequence, 5u);
    frame = last([](FrameWriter &to) { to.next(envelope_of(6), rest); }, FrameKind::next);
    EXPECT_EQ(frame.total, 8u);
    EXPECT_EQ(frame.sequence, 5u);
    frame = last([](FrameWriter &to) { to.beginning(5, envelope_of(6), rest, 9); }, FrameKind::beginning);
    EXPECT_EQ(frame.total, 9u);
    frame = last([](FrameWriter &to) { to.part(5, rest, 9); }, FrameKind::part);
    EXPECT_EQ(frame.offset, 9u);
    frame = last([](FrameWriter &to) { to.bulk({11, 12}); }, FrameKind::bulk);
    EXPECT_EQ(frame.bulk.offset, 12u);
}

TEST(Packet, BulkKnowsAllIdsAndPlaces) {
    for (const BulkHeader &bulk : bulk_headers()) {
        Written written;
        written.writer.bulk(bulk);
        EXPECT_TRUE(written.writer.closed());
        written.copy("bulk");
        FrameReader reader(written.frames());
        Frame frame;
        ASSERT_TRUE(reader.next(frame)) << bulk.receive_id << ", " << bulk.offset;
        EXPECT_EQ(frame.bulk.receive_id, bulk.receive_id);
        EXPECT_EQ(frame.bulk.offset, bulk.offset);
        EXPECT_EQ(text_of(frame), "bulk");
        EXPECT_FALSE(reader.next(frame) || reader.malformed());
    }
}

TEST(Packet, KeepsEnvelopes) {
    Written written;
    written.writer.envelope(0xabffffff & sequence_mask, envelope_of(5), 3);
    written.copy("one");
    written.writer.next(envelope_of(6), 0);
    written.writer.beginning(9, envelope_of(7), 2, 70'000);
    written.copy("be");
    written.writer.part(9, 4, 69'990);
    written.copy("part");
    FrameReader reader(written.frames());
    Frame frame;
    ASSERT_TRUE(reader.next(frame));
    EXPECT_EQ(frame.kind, FrameKind::envelope);
    EXPECT_EQ(frame.sequence, sequence_mask);
    EXPECT_EQ(frame.envelope.context, 5u);
    EXPECT_EQ(text_of(frame), "one");
    ASSERT_TRUE(reader.next(frame));
    EXPECT_EQ(frame.kind, FrameKind::next);
    EXPECT_EQ(frame.sequence, 0u);  // wraps around
    EXPECT_EQ(frame.envelope.context, 6u);
    EXPECT_EQ(frame.total, 0u);
    ASSERT_TRUE(reader.next(frame));
    EXPECT_EQ(frame.total, 70'000u);
    EXPECT_EQ(frame.offset, 0u);
    EXPECT_EQ(text_of(frame), "be");
    ASSERT_TRUE(reader.next(frame));
    EXPECT_EQ(frame.offset, 69'990u);
    EXPECT_EQ(text_of(frame), "part");
    EXPECT_FALSE(reader.next(frame));
    EXPECT_FALSE(reader.malformed());
}

TEST(Packet, KeepsTheRest) {
    Written written;
    Acknowledgement said;
    said.delay_us = 77;
    said.away_us = 10'000;
    said.cumulative = 1000;
    said.expected = 12;
    said.window = no_limit;
    said.count = 2;
    said.ranges[0] = {1, 3};
    said.ranges[1] = {7, 100};
    written.writer.acknowledge(said);
    written.writer.move_on(0x1'0000'0005);
    written.writer.probe();
    written.writer.end(EndReason::refused, 4);
    written.writer.bulk({11, 1ull << 40});
    written.copy("bulk");
    FrameReader reader(written.frames());
    Frame frame;
    ASSERT_TRUE(reader.next(frame));
    EXPECT_EQ(frame.acknowledgement.delay_us, 77);
    EXPECT_EQ(frame.acknowledgement.away_us, 10'000);
    EXPECT_EQ(frame.acknowledgement.cumulative, 1000u);
    EXPECT_EQ(frame.acknowledgement.expected, 12u);
    EXPECT_EQ(frame.acknowledgement.window, no_limit);
    ASSERT_EQ(frame.acknowledgement.count, 2u);
    EXPECT_EQ(frame.acknowledgement.ranges[1].begin, 7);
    EXPECT_EQ(frame.acknowledgement.ranges[1].length, 100);
    ASSERT_TRUE(reader.next(frame));
    EXPECT_EQ(frame.below, 5u);
    ASSERT_TRUE(reader.next(frame));
    EXPECT_EQ(frame.kind, FrameKind::probe);
    ASSERT_TRUE(reader.next(frame));
    EXPECT_EQ(frame.reason, EndReason::refused);
    EXPECT_EQ(frame.epoch, 4u);
    ASSERT_TRUE(reader.next(frame));
    EXPECT_EQ(frame.bulk.receive_id, 11u);
    EXPECT_EQ(frame.bulk.offset, 1ull << 40);
    EXPECT_EQ(text_of(frame), "bulk");
}

TEST(Packet, RefusesWhatIsCutOff) {
    Written written;
    written.writer.envelope(1, envelope_of(5), 3);
    written.copy("one");
    for (size_t size = 1; size < written.writer.size(); ++size)
        EXPECT_EQ(readable(written.frames().first(size)), -1) << size;
    EXPECT_EQ(readable(written.frames()), 1);
    EXPECT_EQ(readable({}), 0);
}

TEST(Packet, RefusesWhatIsCutOffBeforeTheRest) {
    auto shortest = [](auto write) {  // the shortest length that is not refused
        Written written;
        write(written.writer);
        written.copy("x");
        for (size_t size = 1; size <= written.writer.size(); ++size)
            if (readable(written.frames().first(size)) == 1) return size;
        return size_t{0};
    };
    EXPECT_EQ(shortest([](FrameWriter &to) { to.envelope(1, envelope_of(5), rest); }), envelope_frame_bytes)
        << "no payload is one";
    EXPECT_EQ(shortest([](FrameWriter &to) { to.beginning(1, envelope_of(5), rest, 10); }),
              beginning_frame_bytes + 1);
    EXPECT_EQ(shortest([](FrameWriter &to) { to.part(1, rest, 10); }), part_frame_bytes + 1);
    for (const BulkHeader &bulk : bulk_headers())
        EXPECT_EQ(shortest([&](FrameWriter &to) { to.bulk(bulk); }), bulk_frame_bytes(bulk) + 1);
}

// Among all kinds with all flags, only those that the protocol defines are read.
TEST(Packet, RefusesFlagsWhereTheyMeanNothing) {
    for (int byte = 0; byte < 256; ++byte) {
        std::byte frame[80] = {static_cast<std::byte>(byte)};
        int kind = byte & ~rest_flag;
        bool is_rest = byte & rest_flag;
        size_t size = 0;  // the readable length, or 0; a size field reads as 0x0101, more than there is
        if (kind == 1 || kind == 3) size = is_rest ? sizeof frame : 0;
        for (std::byte &each : std::span(frame).subspan(1)) each = std::byte{1};
        if (kind == 4) size = is_rest ? sizeof frame : 0;
        if (kind == 5 || kind & bulk_flag) size = sizeof frame;
        if (kind == 7) size = move_on_frame_bytes;
        if (kind == 8) size = probe_frame_bytes;
        if (kind == 9) size = end_frame_bytes;
        bool may_have_rest = (kind >= 1 && kind <= 4) || kind & bulk_flag;
        bool right = size > 0 && (may_have_rest || !is_rest);
        EXPECT_EQ(readable({frame, size ? size : sizeof frame}), right ? 1 : -1) << byte;
    }
}

TEST(Packet, RefusesWhatMakesNoSense) {
    auto refused = [](auto write) {
        Written written;
        write(written);
        return readable(written.frames()) == -1;
    };
    EXPECT_TRUE(refused([](Written &to) { to.writer.next(envelope_of(1), 0); })) << "the next of none";
    EXPECT_TRUE(refused([](Written &to) {
        to.writer.envelope(1, envelope_of(1), 0);
        to.writer.probe();
        to.writer.next(envelope_of(1), 0);
    })) << "something between";
    EXPECT_TRUE(refused([](Written &to) { to.writer.beginning(1, envelope_of(1), 0, 10); }))
        << "an empty beginning";
    EXPECT_TRUE(refused([](Written &to) {
        to.writer.beginning(1, envelope_of(1), 3, 3);
        to.copy("all");
    })) << "a beginning that is all";
    EXPECT_TRUE(refused([](Written &to) { to.writer.part(1, 0, 10); })) << "an empty part";
    EXPECT_TRUE(refused([](Written &to) {
        to.writer.part(1, 3, 0);
        to.copy("abc");
    })) << "a part that is a beginning";
    EXPECT_TRUE(refused([](Written &to) { to.writer.bulk({1, 1}); })) << "no bulk";
    EXPECT_TRUE(refused([](Written &to) { to.writer.end(static_cast<EndReason>(9), 1); })) << "no reason";
    auto ranges = [&](Range first, Range second) {
        Acknowledgement said;
        said.count = 2;
        said.ranges[0] = first;
        said.ranges[1] = second;
        return refused([&](Written &to) { to.writer.acknowledge(said); });
    };
    EXPECT_FALSE(ranges({1, 1}, {3, 1}));
    EXPECT_TRUE(ranges({0, 1}, {3, 1})) << "the first missing one has arrived";
    EXPECT_TRUE(ranges({1, 2}, {3, 1})) << "they touch";
    EXPECT_TRUE(ranges({4, 2}, {1, 1})) << "out of order";
    EXPECT_TRUE(ranges({1, 0}, {3, 1})) << "empty";
    EXPECT_TRUE(ranges({1, 1}, {4000, 200})) << "beyond what may be on its way";
}

TEST(Packet, WidensNumbers) {
    EXPECT_EQ(widened(5, 0x1'0000'0000), 0x1'0000'0005u);
    EXPECT_EQ(widened(0xfffffff0, 0x1'0000'0000), 0xffff'fff0u);
    EXPECT_EQ(widened(0x000001, 0x2ffffff, 24), 0x3000001u);
    EXPECT_EQ(widened(0xffffff, 0x3000001, 24), 0x2ffffffu);
    for (uint64_t about : {uint64_t{5000}, uint64_t{1} << 31, uint64_t{1} << 32, uint64_t{3} << 31})
        for (uint64_t number = about - 4999; number < about + 5000; ++number)
            ASSERT_EQ(widened(number_field(number), about, number_bits), number) << about;
}

TEST(Packet, SurvivesAnything) {
    sim::Random random(1);
    for (int round = 0; round < 20'000; ++round) {
        std::vector<std::byte> bytes(random.below(200));
        for (std::byte &byte : bytes)
            byte = static_cast<std::byte>(random.chance(50) ? random.below(10) : random.next());
        readable(bytes);
    }
}

}  // namespace
}  // namespace lanyard::dgram
