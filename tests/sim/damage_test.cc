// A link whose frames have checksums (path/tcp/frame.h) receives frames that the test composes itself,
// with one bit flipped. The link must count the damage at once, without waiting for more bytes, and must
// deliver nothing from these frames.
#include <gtest/gtest.h>

#include <cstring>

#include "base/log.h"
#include "fuzz/caller.h"
#include "sim/job.h"

namespace lanyard::sim {
namespace {

struct Seen final : Sink {
    int envelopes = 0, bulks = 0, begun = 0;
    std::string beginning;
    void envelope(uint32_t, const Envelope &, const std::byte *, size_t) override { ++envelopes; }
    std::byte *begin(uint32_t, const Envelope &, const std::byte *payload, size_t received, size_t,
                     size_t &) override {
        ++begun;
        beginning.assign(reinterpret_cast<const char *>(payload), received);
        return nullptr;
    }
    void bulk(uint32_t, const BulkHeader &, const std::byte *, size_t) override { ++bulks; }
    void sent(uint64_t) override { FAIL(); }
    void lost(uint32_t, Error) override { FAIL(); }
};

class Damage : public ::testing::Test {
protected:
    Damage() { detail::log_level = -1; }
    ~Damage() override { detail::log_level = 0; }

    void turn() { links_.path(1).poll(seen_, 100, baton_.now_ns()); }
    const TcpPath::Counts &counts() { return links_.path(1).counts(); }

    // Opens a new connection to the link and greets it.
    void greet() {
        Greeting hello{}, welcome{}, confirm{};
        caller_.dial(SimInternet::address_of(1).with_port(links_.port(1)));
        hello.kind = GreetingKind::hello;
        confirm.kind = GreetingKind::confirm;
        hello.to = confirm.to = 1;
        hello.epoch = confirm.epoch = ++epoch_;
        WireIdentity identity;
        identity.settings = checksum_setting;
        seal(hello, identity, nullptr);
        ASSERT_TRUE(caller_.say(&hello, sizeof hello) && caller_.hear(welcome));
        ASSERT_EQ(welcome.kind, GreetingKind::welcome);
        expected_ = static_cast<uint32_t>(welcome.expects);
        seal(confirm, identity, &welcome);
        ASSERT_TRUE(caller_.say(&confirm, sizeof confirm));
        for (int i = 0; i < 100; ++i) turn();
    }
    // Returns the bytes of a frame as docs/internals/protocol-tcp.md describes them.
    std::string frame(FrameKind kind, const std::string &payload) {
        FrameHeader header{kind, 0, 0, static_cast<uint32_t>(payload.size()), expected_, 0};
        header.reserved = static_cast<uint16_t>(~static_cast<unsigned>(kind));
        std::string bytes(reinterpret_cast<char *>(&header), sizeof header);
        Envelope envelope{};
        envelope.kind = EnvelopeKind::eager;
        envelope.length = payload.size();
        if (kind == FrameKind::envelope) bytes.append(reinterpret_cast<char *>(&envelope), sizeof envelope);
        if (kind == FrameKind::bulk) bytes.append(sizeof(BulkHeader), '\1');
        uint32_t check[] = {crc_(bytes.data(), bytes.size()),
                            crc_(payload.data(), std::min<size_t>(payload.size(), 16)),
                            crc_(payload.data(), payload.size())};
        return bytes.append(reinterpret_cast<char *>(check), sizeof check) + payload;
    }
    void say(const std::string &bytes) {
        caller_.say(bytes.data(), bytes.size());
        for (int i = 0; i < 100; ++i) turn();
    }

    Crc32c crc_ = loaded_crc();
    Baton baton_{1};
    SimLinks links_{
        baton_,
        {.usual_delay_ns = 1, .long_delay_percent = 0, .portion_percent = 0, .preempt_percent = 0},
        TcpLimits(),
        2,
        crc_};
    SimSockets sockets_{links_.internet, 0};
    fuzz::Caller caller_{sockets_, [this] { turn(); }};
    Seen seen_;
    uint32_t epoch_ = 0, expected_ = 0;
};

TEST_F(Damage, OfNothingIsNotFound) {
    greet();
    for (FrameKind kind : {FrameKind::envelope, FrameKind::bulk}) say(frame(kind, "twenty bytes of text"));
    say(frame(FrameKind::acknowledge, ""));
    EXPECT_EQ(counts().damaged + counts().garbled + counts().broken, 0u);
    EXPECT_EQ(seen_.envelopes, 1);
    EXPECT_EQ(seen_.bulks, 1);
}

TEST_F(Damage, OfAnyBitIsFoundAtOnce) {
    for (FrameKind kind : {FrameKind::envelope, FrameKind::bulk, FrameKind::acknowledge}) {
        std::string payload = kind == FrameKind::acknowledge ? "" : "twenty bytes of text";
        size_t bits = frame(kind, payload).size() * 8;
        for (size_t bit = 0; bit < bits; ++bit) {
            SCOPED_TRACE("kind " + std::to_string(static_cast<int>(kind)) + ", bit " + std::to_string(bit));
            greet();
            std::string bytes = frame(kind, payload);
            size_t check = bytes.size() - payload.size() - sizeof(FrameCheck);
            // Skips the checksum of the first bytes. The link does not read this checksum if the whole frame
            // has arrived.
            if (bit / 32 == check / 4 + 1) continue;
            bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
            uint64_t before = counts().damaged;
            say(bytes);
            ASSERT_EQ(counts().damaged, before + 1);
            ASSERT_EQ(seen_.envelopes + seen_.bulks, 0);
        }
        seen_ = {};
    }
    EXPECT_EQ(counts().garbled, 0u);
}

TEST_F(Damage, OfTheFirstBytesIsFoundBeforeTheyAreShown) {
    for (size_t bit = 0; bit < 16 * 8; ++bit) {
        greet();
        std::string bytes = frame(FrameKind::envelope, std::string(1000, 'x')).substr(0, 160);
        bytes[60 + bit / 8] = static_cast<char>(bytes[60 + bit / 8] ^ 1 << bit % 8);
        say(bytes);
        ASSERT_EQ(counts().damaged, bit + 1);
    }
    EXPECT_EQ(seen_.begun, 0);
    greet();
    say(frame(FrameKind::envelope, std::string(1000, 'x')).substr(0, 160));
    EXPECT_EQ(seen_.begun, 1);
    EXPECT_EQ(seen_.beginning, std::string(16, 'x')) << "no more than is known to be right";
}

}  // namespace
}  // namespace lanyard::sim
