// Runs one side of a protocol by itself. The test plays the peer (number 1): it writes what the peer sends,
// and reads what this process (number 0) has sent. Nothing is transmitted.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/abi_constants.h"
#include "datatype/predefined.h"
#include "p2p/endpoint.h"
#include "unit/engine/stubs.h"

namespace lanyard {

// Spins, or sleeps in no time: the clock goes on to the deadline or, if there is none, by an hour.
class ScriptedIdle final : public Idle {
public:
    static constexpr uint64_t hour_ns = 3'600'000'000'000;

    Action next(uint32_t, uint64_t, uint64_t) override { return sleeps ? Action::sleep : Action::spin; }
    void yield() override {}
    void arm() override {}
    void sleep(uint64_t deadline_ns) override {
        now = deadline_ns == no_deadline ? now + hour_ns : std::max(now, deadline_ns);
    }
    void disarm() override {}
    void wake() override {}
    uint64_t now_ns() override { return now; }

    uint64_t now = 1'000'000;
    bool sleeps = false;
};

// Records what it is given. The "peer's memory" is the test's own.
class ScriptedPath final : public Path, private DirectMemory {
public:
    struct Facts {
        bool loses_bulk = false;
        size_t keep_from = SIZE_MAX;
    };
    explicit ScriptedPath(const Facts &facts)
        : Path({.name = "script",
                .max_eager = 1 << 20,
                .max_bulk = 1000,
                .keep_from = facts.keep_from,
                .bulk_follows = facts.loses_bulk,
                .loses_bulk = facts.loses_bulk,
                .memory = this}) {}

    struct Message {
        Envelope envelope;
        std::string payload;
    };
    struct Frame {
        BulkHeader header;
        std::string payload;
        uint64_t token;
    };

    bool reaches(uint32_t) const override { return true; }
    std::string describe() const override { return "script: notes what it is given"; }
    bool touches(uint32_t) override { return touched; }
    std::atomic<uint64_t> *shared_word(uint32_t owner, uint32_t index) override {
        return shares ? &words[owner][index] : nullptr;
    }
    Sent send(uint32_t, const Envelope &envelope, Payload payload) override {
        if (room == 0) return Sent::full;
        --room;
        std::string bytes(payload.size, '\0');
        if (payload.size) payload.copy(bytes.data(), payload.size);
        sent.push_back({envelope, bytes});
        return Sent::done;
    }
    Sent send_kept(uint32_t, const Envelope &envelope, const KeptPayload &payload) override {
        if (room == 0) return Sent::full;
        --room;
        std::string bytes(reinterpret_cast<const char *>(payload.head), payload.head_size);
        bytes.append(reinterpret_cast<const char *>(payload.data), payload.size);
        sent.push_back({envelope, bytes});
        kept.push_back(payload.token);
        return Sent::pending;
    }
    void kept_moved(uint32_t, uint64_t name, const std::byte *data) override {
        moved.push_back({name, data});
    }
    Sent send_bulk(uint32_t, const BulkHeader &header, Payload payload, uint64_t token) override {
        if (bulk_room == 0) return Sent::full;
        --bulk_room;
        std::string bytes(payload.size, '\0');
        payload.copy(bytes.data(), payload.size);
        bulk.push_back({header, bytes, token});
        return bulk_result;
    }
    Error get(uint32_t, const iovec *local, int runs, uint64_t address, size_t) override {
        if (refused) return Error(ErrorClass::other, "refused by the test");
        auto *from = reinterpret_cast<const std::byte *>(address);
        for (int i = 0; i < runs; from += local[i++].iov_len)
            std::memcpy(local[i].iov_base, from, local[i].iov_len);
        ++gets;
        return {};
    }
    Error put(uint32_t, const iovec *local, int runs, uint64_t address, size_t) override {
        if (refused) return Error(ErrorClass::other, "refused by the test");
        auto *to = reinterpret_cast<std::byte *>(address);
        for (int i = 0; i < runs; to += local[i++].iov_len)
            std::memcpy(to, local[i].iov_base, local[i].iov_len);
        ++puts;
        return {};
    }
    int poll(Sink &, int, uint64_t) override { return 0; }

    std::vector<Envelope> of_kind(EnvelopeKind kind) const {
        std::vector<Envelope> all;
        for (const Message &message : sent)
            if (message.envelope.kind == kind) all.push_back(message.envelope);
        return all;
    }
    // The payload of the latest envelope, read as a T.
    template <class T>
    T said() const {
        T said{};
        EXPECT_GE(sent.back().payload.size(), sizeof said);
        std::memcpy(static_cast<void *>(&said), sent.back().payload.data(), sizeof said);
        return said;
    }

    int room = 1000, bulk_room = 1000, gets = 0, puts = 0;
    bool touched = false, shares = false, refused = false;
    Sent bulk_result = Sent::done;
    std::vector<Message> sent;
    std::vector<Frame> bulk;
    std::vector<uint64_t> kept;
    std::vector<std::pair<uint64_t, const std::byte *>> moved;
    std::atomic<uint64_t> words[2][shared_words] = {};
};

class ScriptedTest : public ::testing::Test {
protected:
    static constexpr uint64_t context = 4000;
    static constexpr int64_t credit = 64 * 1024;

    ScriptedTest() {
        engine.set_sink(no_sink);
        use({});
        for (Peer &each : endpoint.peers) each.eager_limit = 4096;
    }
    // Replaces the path by another one.
    void use(const ScriptedPath::Facts &facts) {
        path = paths.emplace_back(std::make_unique<ScriptedPath>(facts)).get();
        for (Peer &each : endpoint.peers) endpoint.channels.route(each, *path);
    }
    Peer &peer() { return endpoint.peers[1]; }
    void step(int times = 1) {
        EngineGuard guard(engine);
        for (int i = 0; i < times; ++i) engine.make_turn();
    }
    static Buffer buffer(std::string &bytes) {
        return {reinterpret_cast<std::byte *>(bytes.data()), static_cast<int64_t>(bytes.size()),
                predefined_datatype(abi::type_byte)};
    }
    void describe(SendOperation &send, std::string &bytes, int32_t tag = 7) {
        static_cast<MatchKey &>(send) = {context, 0, tag};
        send.buffer = buffer(bytes);
        send.peer = 1;
    }
    void describe(ReceiveOperation &receive, std::string &bytes, int32_t tag = 7) {
        static_cast<MatchKey &>(receive) = {context, 1, tag};
        receive.buffer = buffer(bytes);
        receive.peer = 1;
    }
    // Envelopes of the peer: answers to what this process has sent or posted, and messages.
    static Envelope answer(EnvelopeKind kind, uint64_t id, int32_t tag = 0) {
        Envelope envelope{};
        envelope.kind = kind;
        envelope.context = id;
        envelope.tag = tag;
        return envelope;
    }
    static Envelope message(EnvelopeKind kind, uint64_t length, int32_t tag = 7) {
        return message_envelope({context, 1, tag}, kind, static_cast<int64_t>(length), 0);
    }
    template <class T>
    static const std::byte *bytes_of(const T &value) {
        return reinterpret_cast<const std::byte *>(&value);
    }
    static const std::byte *bytes_of(const std::string &text) {
        return reinterpret_cast<const std::byte *>(text.data());
    }
    static std::string text(size_t size, char first = 'a') {
        std::string made(size, '\0');
        for (size_t i = 0; i < size; ++i) made[i] = static_cast<char>(first + i % 23);
        return made;
    }
    void lose_peer(const char *why = "its cable is cut") {
        endpoint.losses.lose(1, why);
        endpoint.channels.close(peer());
        endpoint.targets.each([](Target &target) { target.lost(1); });
    }

    Settings settings;
    ScriptedIdle idle;
    Engine engine{idle};
    std::vector<std::unique_ptr<ScriptedPath>> paths;
    ScriptedPath *path = nullptr;
    Endpoint endpoint{engine, settings, 0, 2, {credit, credit / 2}};
};

}  // namespace lanyard
