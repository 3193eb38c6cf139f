// Tests the store for envelopes that arrive ahead of their turn. Packets bring parts of envelopes in any
// order, with overlaps, and the envelopes are taken in order.
#include "path/dgram/early.h"

#include <gtest/gtest.h>

#include "net/sim/random.h"

namespace lanyard::dgram {
namespace {

std::vector<std::byte> bytes_of(uint32_t begin, uint32_t size) {
    std::vector<std::byte> bytes(size);
    for (uint32_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>((begin + i) * 7);
    return bytes;
}

// One envelope of `total` bytes arrives in random overlapping pieces, as packets. All that can be delivered
// is delivered, as a flow would do it.
void deliver_in_pieces(uint64_t seed, uint32_t total) {
    sim::Random random(seed);
    EarlyEnvelopes::Blocks blocks;
    EarlyEnvelopes early;
    uint32_t at = 0;
    auto deliver = [&](const Piece &piece, const std::byte *payload) {
        if (piece.at.offset > at || piece.at.offset + piece.size <= at) return;
        std::vector<std::byte> expected = bytes_of(piece.at.offset, piece.size);
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(), payload));
        at = piece.at.offset + piece.size;
    };
    auto next = [&] { return Position{1, at}; };
    for (int round = 0; at < total; ++round) {
        ASSERT_LT(round, 100'000);
        uint32_t begin = static_cast<uint32_t>(random.below(total)),
                 size = static_cast<uint32_t>(1 + random.below(std::min(total - begin, 3000u)));
        std::vector<std::byte> payload = bytes_of(begin, size);
        Piece piece{{1, begin}, total, size, {}};
        if (begin <= at) deliver(piece, payload.data());
        else if (early.add(blocks, piece, payload.data(), 64)) early.keep(blocks);
        else early.forget(blocks);
        early.take(blocks, next, deliver);
    }
    early.drop_all(blocks);
    EXPECT_TRUE(early.empty());
    EXPECT_EQ(blocks.bytes(), 0u);
}

TEST(EarlyEnvelopes, AreDeliveredInOrderWhateverThePieces) {
    for (uint64_t seed = 1; seed < 60; ++seed) deliver_in_pieces(seed, static_cast<uint32_t>(1 + seed * 100));
}

TEST(EarlyEnvelopes, ShareABlockWhereAPacketHasSeveral) {
    EarlyEnvelopes::Blocks blocks;
    EarlyEnvelopes early;
    std::vector<std::byte> payload = bytes_of(0, 8);
    for (uint64_t sequence = 5; sequence < 25; ++sequence) {
        Envelope envelope{};
        envelope.context = sequence;
        ASSERT_TRUE(early.add(blocks, {{sequence, 0}, 8, 8, envelope}, payload.data(), 1));
    }
    early.keep(blocks);
    uint64_t next = 4;
    early.take(blocks, [&] { return Position{next, 0}; }, [](const Piece &, const std::byte *) { FAIL(); });
    next = 5;
    early.take(blocks, [&] { return Position{next, 0}; },
               [&](const Piece &piece, const std::byte *) {
                   EXPECT_EQ(piece.at.sequence, next);
                   EXPECT_EQ(piece.envelope.context, next++);
               });
    EXPECT_EQ(next, 25u);
    EXPECT_EQ(blocks.bytes(), 0u);
}

TEST(EarlyEnvelopes, TakeNothingOfAPacketForWhichThereIsNoRoom) {
    EarlyEnvelopes::Blocks blocks;
    EarlyEnvelopes early;
    std::vector<std::byte> payload = bytes_of(0, 5000);
    EXPECT_FALSE(early.add(blocks, {{5, 0}, 5000, 5000, {}}, payload.data(), 2));
    early.forget(blocks);
    EXPECT_TRUE(early.empty());
    EXPECT_TRUE(early.add(blocks, {{5, 0}, 3000, 3000, {}}, payload.data(), 2));
    early.drop_all(blocks);
    EXPECT_EQ(blocks.bytes(), 0u);
}

}  // namespace
}  // namespace lanyard::dgram
