// Tests each half of the dual copy by itself (dual_copy.h). The test plays the other half by means of the
// shared word.
#include "p2p/dual_copy.h"

#include <random>

#include "unit/p2p/scripted.h"

namespace lanyard {
namespace {

constexpr size_t piece_bytes = 64 * 1024, piece_count = 6, bytes_of_all = piece_count * piece_bytes - 100;

class DualCopyTest : public ScriptedTest, protected PieceReader::User {
protected:
    DualCopyTest() {
        path->touched = path->shares = true;
        source = text(bytes_of_all);
        room.assign(bytes_of_all, '.');
    }
    void pieces_copied() override { ++copied; }
    void pieces_refused() override { ++refusals; }
    bool read() {
        return reader.begin(1, 4711, 55, reinterpret_cast<uintptr_t>(source.data()),
                            reinterpret_cast<std::byte *>(room.data()), bytes_of_all, *this);
    }
    HelpRequest request() const { return path->said<HelpRequest>(); }
    std::atomic<uint64_t> &word() { return path->words[0][request().word]; }
    Share claim_as_sender() { return claim_pieces(word(), request().generation, piece_count, false, 1); }
    void write(Share pieces) {
        auto offset = static_cast<size_t>(pieces.first) * piece_bytes;
        room.replace(offset, piece_bytes, source.substr(offset, piece_bytes));
    }

    PieceReader reader{endpoint};
    PieceWriter writer{endpoint};
    std::string source, room;
    int copied = 0, refusals = 0;
};

TEST(Claims, GiveEachPieceToOneSide) {
    std::mt19937 random(17);
    for (int round = 0; round < 1000; ++round) {
        uint64_t pieces = 1 + random() % 100, most = 1 + random() % 20, front = 0, back = 0;
        std::atomic<uint64_t> word{Claims{7, 0, 0}.word()};
        while (front + back < pieces) {
            bool at_front = random() % 2 == 0;
            Share share = claim_pieces(word, 7, pieces, at_front, most);
            ASSERT_GE(share.count, 1u);
            ASSERT_LE(share.count, std::min(most, (pieces - front - back + 1) / 2));
            ASSERT_EQ(share.first, at_front ? front : pieces - back - share.count);
            (at_front ? front : back) += share.count;
        }
        EXPECT_EQ(claim_pieces(word, 7, pieces, true, most).count, 0u);
        EXPECT_EQ(claim_pieces(word, 8, pieces, true, most).count, 0u) << "another generation";
    }
}

TEST_F(DualCopyTest, TheReceiverReadsAllWhereNobodyHelps) {
    ASSERT_TRUE(read());
    step(piece_count);
    EXPECT_EQ(copied, 1);
    EXPECT_EQ(room, source);
    EXPECT_EQ(endpoint.words.in_use(), 0);
}

TEST_F(DualCopyTest, EachPieceIsCopiedOnce) {
    ASSERT_TRUE(read());  // also reads the first half
    HelpRequest asked = request();
    Share last = claim_as_sender(), before_last = claim_as_sender();
    EXPECT_EQ(last.first, piece_count - 1);
    step(10);
    EXPECT_EQ(path->gets, 2);
    EXPECT_EQ(copied, 0) << "the sender still writes";
    write(last);
    write(before_last);
    reader.helped(true);
    EXPECT_EQ(copied, 1);
    EXPECT_EQ(room, source);
    EXPECT_EQ(claim_pieces(path->words[0][asked.word], asked.generation, piece_count, false, 1).count, 0u)
        << "the word is over";
}

TEST_F(DualCopyTest, ReadsWhatTheSenderCouldNotWrite) {
    ASSERT_TRUE(read());
    claim_as_sender();
    step(2);
    reader.helped(false);
    EXPECT_EQ(copied, 1);
    EXPECT_EQ(room, source);
    reader.helped(true);  // a second report changes nothing
    EXPECT_EQ(copied, 1);
}

// One call of the kernel copies less than 2 GiB, so what is left must not be read by one call.
TEST_F(DualCopyTest, ReadsALongRestInParts) {
    source = text(40 * piece_bytes);
    room.assign(source.size(), '.');
    ASSERT_TRUE(reader.begin(1, 4711, 55, reinterpret_cast<uintptr_t>(source.data()),
                             reinterpret_cast<std::byte *>(room.data()), source.size(), *this));
    EXPECT_EQ(claim_pieces(word(), request().generation, 40, false, 1).first, 39u);
    reader.helped(false);
    EXPECT_EQ(path->gets, 3) << "16 pieces, 16 and 8";
    EXPECT_EQ(copied, 1);
    EXPECT_EQ(room, source);
}

TEST_F(DualCopyTest, SaysWhenTheKernelRefuses) {
    path->refused = true;
    ASSERT_TRUE(read());
    EXPECT_EQ(refusals, 1);
    EXPECT_EQ(endpoint.words.in_use(), 0);
}

TEST_F(DualCopyTest, NeedsAWord) {
    path->shares = false;
    EXPECT_FALSE(read());
    EXPECT_TRUE(path->sent.empty());
}

TEST_F(DualCopyTest, TheSenderWritesFromTheBack) {
    path->words[1][5] = Claims{3, 0, 0}.word();
    writer.begin(1, {55, reinterpret_cast<uintptr_t>(room.data()), 5, 3}, buffer(source));
    step();
    EXPECT_EQ(room.substr(3 * piece_bytes), source.substr(3 * piece_bytes));
    EXPECT_EQ(claim_pieces(path->words[1][5], 3, piece_count, true, 1).count, 1u);
    step(10);
    EXPECT_EQ(room[0], '.') << "the receiver has that";
    EXPECT_EQ(room.substr(piece_bytes), source.substr(piece_bytes));
    ASSERT_EQ(path->of_kind(EnvelopeKind::helped).size(), 1u);
    EXPECT_EQ(path->sent.back().envelope.tag, 1);
    EXPECT_EQ(path->sent.back().envelope.context, 55u);
}

TEST_F(DualCopyTest, ALateSenderDoesNothing) {
    path->words[1][5] = Claims{4, 0, 0}.word();
    writer.begin(1, {55, reinterpret_cast<uintptr_t>(room.data()), 5, 3}, buffer(source));
    step(3);
    EXPECT_EQ(path->puts, 0);
    EXPECT_TRUE(path->sent.empty());
    EXPECT_FALSE(writer.busy());
}

TEST_F(DualCopyTest, AStoppedSenderTouchesTheWordNoMore) {
    path->words[1][5] = Claims{3, 0, 0}.word();
    writer.begin(1, {55, reinterpret_cast<uintptr_t>(room.data()), 5, 3}, buffer(source));
    step();
    writer.stop();
    uint64_t before = path->words[1][5];
    step(3);
    EXPECT_EQ(path->words[1][5], before);
    EXPECT_EQ(path->puts, 1);
}

TEST_F(DualCopyTest, ASenderThatIsRefusedSaysSo) {
    path->refused = true;
    path->words[1][5] = Claims{3, 0, 0}.word();
    writer.begin(1, {55, reinterpret_cast<uintptr_t>(room.data()), 5, 3}, buffer(source));
    step(3);
    ASSERT_EQ(path->of_kind(EnvelopeKind::helped).size(), 1u);
    EXPECT_EQ(path->sent.back().envelope.tag, 0);
}

}  // namespace
}  // namespace lanyard
