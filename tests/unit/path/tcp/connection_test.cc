// Tests a connection without a link: frames that are read in portions of any length, damaged frames, budgets,
// and a log and bulk that are written in parts. After a loss, the log is written again.
#include "path/tcp/connection.h"

#include <gtest/gtest.h>

#include "net/sim/random.h"
#include "sim/seeds.h"
#include "unit/path/tcp/frames.h"

namespace lanyard {
namespace {

constexpr int first_socket = 7, second_socket = 8;
constexpr size_t max_eager = 200'000;

FrameForm form_of(bool checked) { return FrameForm(max_eager, checked ? loaded_crc() : Crc32c()); }

// A stream, and the frames in it.
struct Stream {
    explicit Stream(bool checked) : form(form_of(checked)) {}

    void envelope(uint64_t sequence, size_t size) {
        Bytes payload = pattern(size, sequence);
        add(envelope_frame(form, sequence, payload, sequence / 2));
        frames.push_back({FrameKind::envelope, static_cast<uint32_t>(sequence),
                          static_cast<uint32_t>(sequence / 2), 0, 0, payload});
    }
    void bulk(uint64_t id, size_t size) {
        Bytes payload = pattern(size, id + 1000);
        add(bulk_frame(form, {id, 64 * id}, payload));
        frames.push_back({FrameKind::bulk, 0, 0, id, 64 * id, payload});
    }
    void acknowledge(uint64_t sequence) {
        add(acknowledge_frame(form, sequence, 3));
        frames.push_back({FrameKind::acknowledge, static_cast<uint32_t>(sequence), 3, 0, 0, {}});
    }
    Bytes part(size_t from, size_t to) const {
        return {bytes.begin() + static_cast<std::ptrdiff_t>(from),
                bytes.begin() + static_cast<std::ptrdiff_t>(to)};
    }

    const FrameForm form;
    Bytes bytes;
    std::vector<SeenFrame> frames;

private:
    void add(const Bytes &frame) { append(bytes, frame.data(), frame.size()); }
};

class Reading {
public:
    explicit Reading(const FrameForm &form) : form_(form) { connection.open(sockets, first_socket); }

    void received(Bytes portion) {
        if (!portion.empty()) sockets.sockets[first_socket].to_read.push_back(std::move(portion));
    }
    int read(Noting &user) {
        user.connection = &connection;
        return connection.read_in(sockets, form_, buffer, ++now_ns, user);
    }
    void read_all(Noting &user) {
        while (!sockets.sockets[first_socket].to_read.empty() && user.faults.empty()) read(user);
    }

    ScriptedSockets sockets;
    Connection connection{3};
    ReadBuffer buffer;
    uint64_t now_ns = 1000;

private:
    const FrameForm &form_;
};

TEST(Connection, ReadsTheSameFramesInAllCuttings) {
    for (bool checked : {false, true}) {
        Stream stream(checked);
        stream.envelope(0, 0);
        stream.envelope(1, 40);
        stream.acknowledge(2);
        stream.bulk(5, 30);
        stream.envelope(2, 1);
        for (size_t first = 0; first <= stream.bytes.size(); ++first) {
            for (size_t second = first; second <= stream.bytes.size(); ++second) {
                Reading reading(stream.form);
                Noting user;
                user.room.gives_places = (first + second) % 2;
                user.room.skips = first % 5;
                reading.received(stream.part(0, first));
                reading.received(stream.part(first, second));
                reading.received(stream.part(second, stream.bytes.size()));
                reading.read_all(user);
                ASSERT_EQ(user.frames, stream.frames)
                    << "cut at " << first << " and " << second << (checked ? ", checked" : "");
                ASSERT_TRUE(user.faults.empty());
                ASSERT_FALSE(reading.connection.frames.in_frame());
            }
        }
    }
}

TEST(Connection, ReadsTheSameFramesInRandomPortions) {
    sim::for_seeds(20, 3, [](uint64_t seed) {
        sim::Random random(seed);
        Stream stream(random.chance(50));
        for (uint64_t i = 0; i < 30; ++i) {
            size_t size = random.chance(30) ? random.below(100'000) : random.below(200);
            if (random.chance(20)) stream.bulk(i, std::min(size, most_checked_bulk));
            else if (random.chance(20)) stream.acknowledge(i);
            else stream.envelope(i, size);
        }
        Reading reading(stream.form);
        for (size_t at = 0; at < stream.bytes.size();) {
            size_t end =
                std::min(stream.bytes.size(), at + 1 + random.below(random.chance(50) ? 100 : 150'000));
            reading.received(stream.part(at, end));
            at = end;
        }
        Noting all(0);
        std::vector<SeenFrame> seen;
        while (!reading.sockets.sockets[first_socket].to_read.empty() || reading.buffer.owner()) {
            all.left = static_cast<int>(1 + random.below(4));
            all.room.gives_places = random.chance(50);
            all.room.skips = random.below(20);
            if (reading.buffer.owner())
                reading.connection.frames.take_apart(stream.form, reading.buffer, 1, all);
            else reading.read(all);
        }
        EXPECT_EQ(all.frames, stream.frames) << "LANYARD_TEST_SEED=" << seed;
        return !::testing::Test::HasFailure();
    });
}

TEST(Connection, BelievesNoFrameThatWasDamaged) {
    Stream stream(true);
    stream.envelope(0, 30);
    stream.bulk(5, 40);
    stream.envelope(1, 5);
    stream.acknowledge(2);
    size_t damages = 0;
    for (size_t at = 0; at < stream.bytes.size(); ++at) {
        for (size_t cut : {size_t{0}, at / 2, at, stream.bytes.size() - 1}) {
            Reading reading(stream.form);
            Noting user;
            user.room.gives_places = cut % 2;
            reading.received(stream.part(0, cut));
            reading.received(stream.part(cut, stream.bytes.size()));
            Bytes &portion = reading.sockets.sockets[first_socket].to_read[cut > at ? 0 : cut > 0 ? 1 : 0];
            portion[at - (cut > at ? 0 : cut)] ^= std::byte{0x10};
            reading.read_all(user);
            // The checksum of a frame's first bytes is not read if the whole frame has arrived at once.
            if (user.faults.empty() && user.frames == stream.frames) continue;
            ++damages;
            ASSERT_EQ(user.faults, std::vector{FrameReader::Fault::damaged})
                << "byte " << at << ", cut at " << cut;
            ASSERT_LT(user.frames.size(), stream.frames.size());
            ASSERT_TRUE(std::equal(user.frames.begin(), user.frames.end(), stream.frames.begin()));
            ASSERT_FALSE(reading.buffer.owner()) << "nothing behind it is looked at";
        }
    }
    EXPECT_GE(damages, 4 * (stream.bytes.size() - 4 * sizeof(FrameCheck::beginning)));
}

TEST(Connection, SaysWhatIsNoFrame) {
    Stream stream(false);
    stream.envelope(0, 10);
    Reading reading(stream.form);
    reading.received(stream.bytes);
    reading.received(Bytes(16, std::byte{0xff}));
    Noting user;
    reading.read_all(user);
    EXPECT_EQ(user.frames.size(), 1u);
    EXPECT_EQ(user.faults, std::vector{FrameReader::Fault::unknown_form});
}

TEST(Connection, TakesNothingOfAFrameThatIsRefused) {
    Stream stream(false);
    stream.envelope(0, 100);
    Reading reading(stream.form);
    reading.received(stream.part(0, 80));
    Noting user;
    user.refuses = true;
    reading.read(user);
    EXPECT_EQ(user.places, 1);
    EXPECT_FALSE(reading.connection.frames.in_payload());
    EXPECT_FALSE(reading.buffer.owner());

    Stream two(false);
    two.envelope(0, 10);
    two.envelope(1, 10);
    Reading whole(two.form);
    whole.received(two.bytes);
    whole.read(user);
    EXPECT_EQ(user.frames.size(), 1u) << "what is behind it is not looked at";
}

TEST(Connection, LeavesTheRestInTheBufferWhenTheBudgetIsSpent) {
    Stream stream(false);
    for (uint64_t i = 0; i < 5; ++i) stream.envelope(i, 8);
    Reading reading(stream.form);
    reading.received(stream.bytes);
    Noting user(2);
    reading.read(user);
    EXPECT_EQ(user.frames.size(), 2u);
    ASSERT_EQ(reading.buffer.owner(), &reading.connection);
    int reads = reading.sockets.reads;
    Connection other(4);
    other.open(reading.sockets, second_socket);
    reading.sockets.sockets[second_socket].to_read.push_back(stream.bytes);
    Noting others;
    EXPECT_EQ(other.read_in(reading.sockets, stream.form, reading.buffer, 1, others), 0)
        << "the buffer is not free";
    EXPECT_EQ(reading.sockets.reads, reads);
    user.left = 10;
    EXPECT_EQ(reading.connection.frames.take_apart(stream.form, reading.buffer, 1, user), 3);
    EXPECT_EQ(user.frames, stream.frames);
    EXPECT_FALSE(reading.buffer.owner());
}

// The reader must not begin the next message after one that arrived in parts and is enough.
TEST(Connection, BeginsNothingWhereALongPayloadIsEnough) {
    Stream stream(false);
    for (uint64_t i = 0; i < 2; ++i) stream.envelope(i, 100'000);
    auto cut = [&](size_t from, size_t to) {
        return Bytes(stream.bytes.begin() + static_cast<ptrdiff_t>(from),
                     stream.bytes.begin() + static_cast<ptrdiff_t>(to));
    };
    size_t second = stream.bytes.size() / 2;
    Reading reading(stream.form);
    Noting user;
    user.enough = 1;
    for (auto [from, to] : {std::pair<size_t, size_t>{0, 50'000}, {50'000, second + 2000}}) {
        reading.received(cut(from, to));
        reading.read(user);
    }
    EXPECT_EQ(user.frames.size(), 1u);
    EXPECT_EQ(user.places, 1);
    ASSERT_EQ(reading.buffer.owner(), &reading.connection);
    reading.connection.frames.take_apart(stream.form, reading.buffer, 1, user);
    EXPECT_EQ(user.places, 2);
    reading.received(cut(second + 2000, stream.bytes.size()));
    reading.read(user);
    EXPECT_EQ(user.frames, stream.frames);
}

TEST(Connection, FailsAtTheEndOfTheStreamAndReadsNoMore) {
    Stream stream(false);
    stream.envelope(0, 8);
    Reading reading(stream.form);
    reading.received(stream.bytes);
    reading.sockets.sockets[first_socket].ended = true;
    Noting user;
    reading.read(user);
    reading.read(user);
    EXPECT_EQ(user.frames.size(), 1u);
    EXPECT_TRUE(reading.connection.has_failed());
    int reads = reading.sockets.reads;
    reading.read(user);
    EXPECT_EQ(reading.sockets.reads, reads);
}

TEST(Connection, ForgetsWhatWasHalfReadWhenItIsClosed) {
    Stream stream(false);
    stream.envelope(0, 100);
    Reading reading(stream.form);
    for (size_t half : {size_t{10}, size_t{30}, size_t{90}}) {
        reading.received(stream.part(0, half));
        Noting user;
        reading.read(user);
        EXPECT_TRUE(reading.connection.frames.in_frame());
        std::vector<uint64_t> tokens;
        reading.connection.close(reading.sockets, tokens);
        EXPECT_TRUE(tokens.empty());
        reading.connection.open(reading.sockets, first_socket);
        reading.received(stream.bytes);
        reading.read(user);
        EXPECT_EQ(user.frames, stream.frames) << "after " << half << " bytes of the connection before";
    }
}

// Envelopes in a log and bulk frames, written as far as the socket has room. After a loss, the log is written
// again on a new socket.
struct Writing {
    explicit Writing(bool checked) : form(form_of(checked)), log(spare, form.check_bytes()) {
        connection.open(sockets, first_socket);
    }

    void envelope(size_t size) {
        Bytes frame = envelope_frame(form, sent, pattern(size, sent));
        std::memcpy(log.append(frame.size()), frame.data(), frame.size());
        ++sent;
    }
    void bulk(size_t size) {
        bulk_payload = pattern(size, ++bulks);
        Payload payload{bulk_payload.data(), size};
        connection.bulk.open(form, {FrameKind::bulk, 0, 0, static_cast<uint32_t>(size), 0, 0}, {bulks, 0},
                             payload, bulks, sockets.time_ns);
    }
    void write(size_t room) {
        sockets.sockets[socket].room = room;
        while (connection.write_some(sockets, log, tokens) == Connection::Wrote::some) {}
    }
    // The frames that have passed through this connection.
    std::vector<SeenFrame> read() {
        Reading reading(form);
        reading.received(sockets.sockets[socket].written);
        Noting user;
        reading.read_all(user);
        EXPECT_TRUE(user.faults.empty());
        return user.frames;
    }
    void reconnect(uint64_t peer_expects) {
        connection.close(sockets, tokens);
        log.rewind();
        connection.open(sockets, ++socket);
        log.acknowledged(peer_expects);
    }

    const FrameForm form;
    ScriptedSockets sockets;
    int socket = first_socket;
    Connection connection{3};
    SpareBlocks spare;
    OutgoingLog log;
    uint64_t sent = 0, bulks = 0;
    Bytes bulk_payload;
    std::vector<uint64_t> tokens;
};

TEST(Connection, WritesWholeFramesWhateverRoomThereIs) {
    for (bool checked : {false, true}) {
        for (size_t room = 1; room < 300; ++room) {
            Writing writing(checked);
            writing.envelope(20);
            writing.envelope(0);
            writing.write(room);
            writing.bulk(50);  // follows what is unwritten
            writing.write(room);
            writing.envelope(7);  // follows the bulk frame, if that has begun
            for (int i = 0; i < 300 && (writing.log.unwritten() || writing.connection.bulk.is_open()); ++i)
                writing.write(room);
            std::vector<SeenFrame> seen = writing.read();
            ASSERT_EQ(seen.size(), 4u) << room;
            uint32_t next = 0;
            for (const SeenFrame &frame : seen) {
                if (frame.kind == FrameKind::bulk) ASSERT_EQ(frame.payload, pattern(50, 1));
                else ASSERT_EQ(frame.sequence, next++);
            }
            ASSERT_EQ(writing.tokens, std::vector<uint64_t>{1}) << "told once";
        }
    }
}

TEST(Connection, WaitsForRoomOnlyWhileSomethingIsUnwritten) {
    Writing writing(false);
    auto &socket = writing.sockets.sockets[first_socket];
    EXPECT_TRUE(socket.watched);
    writing.envelope(20);
    writing.write(10);
    EXPECT_TRUE(writing.connection.awaits_room());
    EXPECT_TRUE(socket.for_room);
    writing.write(1000);
    EXPECT_FALSE(writing.connection.awaits_room());
    EXPECT_FALSE(socket.for_room);
}

TEST(Connection, ReplaysAllThatIsNotAcknowledgedAndNothingElse) {
    sim::for_seeds(50, 3, [](uint64_t seed) {
        sim::Random random(seed);
        Writing writing(random.chance(50));
        uint64_t peer_has = 0;  // the peer has all envelopes before this number
        for (int turn = 0; turn < 30; ++turn) {
            for (uint64_t i = random.below(4); i > 0; --i) writing.envelope(random.below(300));
            if (random.chance(20) && !writing.connection.bulk.is_open()) writing.bulk(1 + random.below(500));
            writing.write(random.below(1000));
            if (!random.chance(30)) continue;
            for (const SeenFrame &frame : writing.read()) {
                if (frame.kind != FrameKind::envelope || frame.sequence < peer_has) continue;
                EXPECT_EQ(frame.sequence, peer_has) << "an envelope was left out; LANYARD_TEST_SEED=" << seed;
                EXPECT_EQ(frame.payload, pattern(frame.payload.size(), frame.sequence));
                ++peer_has;
            }
            bool had_bulk = writing.connection.bulk.is_open();
            size_t told = writing.tokens.size();
            writing.reconnect(peer_has);
            EXPECT_EQ(writing.tokens.size(), told + had_bulk) << "the payload of lost bulk is needed no more";
            writing.write(SIZE_MAX);
            std::vector<SeenFrame> again = writing.read();
            EXPECT_EQ(again.size(), writing.sent - peer_has) << "each once; LANYARD_TEST_SEED=" << seed;
            for (size_t i = 0; i < again.size(); ++i) EXPECT_EQ(again[i].sequence, peer_has + i);
            if (::testing::Test::HasFailure()) return false;
        }
        return true;
    });
}

TEST(Connection, FailsWhenItCannotBeWrittenTo) {
    Writing writing(false);
    writing.sockets.sockets[first_socket].error = ECONNRESET;
    writing.envelope(20);
    writing.write(SIZE_MAX);
    EXPECT_TRUE(writing.connection.has_failed());
    EXPECT_FALSE(writing.connection.is_usable());
    EXPECT_TRUE(writing.connection.is_open()) << "until its owner closes it";
}

TEST(Connection, WritesFirstOnlyWhereNothingElseWaits) {
    Writing writing(false);
    Bytes bytes(10);
    iovec part{bytes.data(), bytes.size()};
    EXPECT_EQ(writing.connection.write_first(writing.sockets, writing.log, &part, 1), 10u);
    writing.envelope(5);
    EXPECT_EQ(writing.connection.write_first(writing.sockets, writing.log, &part, 1), 0u);
}

TEST(BulkWriter, FollowsThePaceOfItsConnection) {
    FrameForm form = form_of(false);
    BulkWriter writer;
    Bytes data(max_bulk_frame);
    auto write_in = [&](size_t size, uint64_t took_ns) {
        data.resize(size);
        Payload payload{data.data(), size};
        writer.open(form, {FrameKind::bulk, 0, 0, static_cast<uint32_t>(size), 0, 0}, {1, 0}, payload, 9,
                    1000);
        writer.advance(SIZE_MAX);
        EXPECT_TRUE(writer.is_written());
        writer.fit_to_pace(1000 + took_ns);
        EXPECT_EQ(writer.close(), 9u);
    };
    write_in(1000, 10);
    EXPECT_EQ(writer.most(), max_bulk_frame) << "it was shorter than it might be";
    write_in(max_bulk_frame, 10'000);
    EXPECT_EQ(writer.most(), 2 * max_bulk_frame);
    write_in(2 * max_bulk_frame, 500'000);
    EXPECT_EQ(writer.most(), 2 * max_bulk_frame);
    write_in(2 * max_bulk_frame, 5'000'000);
    EXPECT_EQ(writer.most(), max_bulk_frame);
}

TEST(WakePace, WakesByTheChunkOnlyWhatComesSlowly) {
    constexpr size_t chunk = 64 * 1024;
    WakePace pace;
    EXPECT_EQ(pace.fit(1'000'000, 20'000, 5'000, 1), 1u) << "too short a look";
    EXPECT_EQ(pace.fit(1'000'000, 1'000'000, 20'000, 1), 1u) << "fast";
    EXPECT_EQ(pace.fit(1'000'000, 20'000, 1'000'000, 1), chunk);
    EXPECT_EQ(pace.fit(500'000, 100'000, 5'000'000, chunk), chunk);
    EXPECT_EQ(pace.fit(30'000, 900'000, 50'000'000, chunk), 30'000u) << "the end, too, wakes";
    EXPECT_EQ(pace.fit(10, 900'000, 50'000'000, 1), 1u);
    EXPECT_EQ(pace.fit(0, 0, 0, 30'000), 1u) << "the payload is here";
}

TEST(Connection, TellsASleeperByTheChunk) {
    Stream stream(false);
    stream.envelope(0, 150'000);
    Reading reading(stream.form);
    Noting user;
    reading.received(stream.part(0, 1000));
    reading.read(user);
    EXPECT_FALSE(reading.connection.is_slow());
    reading.now_ns += 10'000'000;
    reading.received(stream.part(1000, 30'000));
    reading.read(user);
    EXPECT_TRUE(reading.connection.is_slow());
    EXPECT_EQ(reading.sockets.sockets[first_socket].wake_at, 64u * 1024);
    reading.received(stream.part(30'000, stream.bytes.size()));
    reading.read(user);
    EXPECT_FALSE(reading.connection.is_slow());
    EXPECT_EQ(reading.sockets.sockets[first_socket].wake_at, 1u);
    EXPECT_EQ(user.frames, stream.frames);
}

}  // namespace
}  // namespace lanyard
