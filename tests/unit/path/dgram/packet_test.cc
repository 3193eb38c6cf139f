// The form of packets: what is written is read again, what is damaged, cut off or senseless is refused.
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

std::string text_of(const Frame &frame) { return {reinterpret_cast<const char *>(frame.payload), frame.size}; }

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

TEST(Packet, KeepsItsHeader) {
    Crc32c crc = Crc32c::built_in();
    std::byte packet[100] = {};
    std::vector<std::byte> tail = bytes_of("a tail elsewhere");
    write_header(packet, {7, 0x0123456789abcdef, 0xfeedbeef, 3, 0x123456789abc});
    seal(crc, packet, 40, tail.data(), tail.size());
    std::copy(tail.begin(), tail.end(), packet + 40);
    std::span<const std::byte> whole(packet, 40 + tail.size());
    PacketHeader header;
    ASSERT_TRUE(read_header(crc, whole, header));
    EXPECT_EQ(header.from, 7u);
    EXPECT_EQ(header.proof, 0x0123456789abcdefu);
    EXPECT_EQ(header.from_epoch, 0xfeedbeefu);
    EXPECT_EQ(header.to_epoch, 3u);
    EXPECT_EQ(header.number, 0x123456789abcu);
    EXPECT_FALSE(read_header(crc, whole.first(whole.size() - 1), header));
    EXPECT_FALSE(read_header(crc, whole.first(header_bytes - 1), header));
    for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
        packet[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
        EXPECT_FALSE(read_header(crc, whole, header)) << bit;
        packet[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    }
}

TEST(Packet, HasSmallHeadersForOneEnvelope) {
    Written written;
    written.writer.envelope(0, envelope_of(1), 0);
    EXPECT_EQ(header_bytes + written.writer.size(), 68u);
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
    EXPECT_EQ(frame.sequence, 0u);  // goes round
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
    said.cumulative = 1000;
    said.expected = 12;
    said.window = no_limit;
    said.count = 2;
    said.ranges[0] = {1, 3};
    said.ranges[1] = {7, 100};
    written.writer.acknowledge(said);
    written.writer.settled(0x1'0000'0005);
    written.writer.probe();
    written.writer.end(EndReason::refused, 4);
    written.writer.bulk({11, 1ull << 40}, 4);
    written.copy("bulk");
    FrameReader reader(written.frames());
    Frame frame;
    ASSERT_TRUE(reader.next(frame));
    EXPECT_EQ(frame.acknowledgement.delay_us, 77);
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
    for (size_t size = 1; size < written.writer.size(); ++size) EXPECT_EQ(readable(written.frames().first(size)), -1) << size;
    EXPECT_EQ(readable(written.frames()), 1);
    EXPECT_EQ(readable({}), 0);
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
    EXPECT_TRUE(refused([](Written &to) { to.writer.beginning(1, envelope_of(1), 0, 10); })) << "an empty beginning";
    EXPECT_TRUE(refused([](Written &to) {
        to.writer.beginning(1, envelope_of(1), 3, 3);
        to.copy("all");
    })) << "a beginning that is all";
    EXPECT_TRUE(refused([](Written &to) { to.writer.part(1, 0, 10); })) << "an empty part";
    EXPECT_TRUE(refused([](Written &to) {
        to.writer.part(1, 3, 0);
        to.copy("abc");
    })) << "a part that is a beginning";
    EXPECT_TRUE(refused([](Written &to) { to.writer.bulk({1, 1}, 0); })) << "no bulk";
    EXPECT_TRUE(refused([](Written &to) { to.writer.end(static_cast<EndReason>(9), 1); })) << "no reason";
    auto ranges = [&](Range first, Range second) {
        Acknowledgement said;
        said.count = 2;
        said.ranges[0] = first;
        said.ranges[1] = second;
        return refused([&](Written &to) { to.writer.acknowledge(said); });
    };
    EXPECT_FALSE(ranges({1, 1}, {3, 1}));
    EXPECT_TRUE(ranges({0, 1}, {3, 1})) << "the first missing one has come";
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
}

TEST(Packet, SurvivesAnything) {
    sim::Random random(1);
    for (int round = 0; round < 20'000; ++round) {
        std::vector<std::byte> bytes(random.below(200));
        for (std::byte &byte : bytes) byte = static_cast<std::byte>(random.chance(50) ? random.below(10) : random.next());
        readable(bytes);
    }
}

}  // namespace
}  // namespace lanyard::dgram
