// Tests the shortcuts of blocking calls, which find a message directly in the ring or among the stored
// messages. One thread drives two messengers over shared memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "base/abi_constants.h"
#include "conformance/shm_connected.h"
#include "datatype/predefined.h"
#include "net/sim/random.h"
#include "p2p/messenger.h"
#include "path/self/self_path.h"
#include "sim/seeds.h"
#include "sim/transfer.h"
#include "unit/p2p/scripted.h"

namespace lanyard {
namespace {

constexpr uint64_t context = 4000;

struct Process {
    Process(Path &path, const Settings &settings, uint32_t own)
        : self(own), messenger(engine, settings, own, 2) {
        engine.add_path(self);
        engine.add_path(path);
        messenger.route(own, self);
        messenger.route(1 - own, path);
    }
    void step() {
        EngineGuard guard(engine);
        engine.make_turn();
    }

    ScriptedIdle idle;
    Engine engine{idle};
    SelfPath self;
    Messenger messenger;
};

class ShortWays {
public:
    ShortWays(sim::Random &random, int64_t credit)
        : random_(random), credit_(credit), settings_{.eager_credit = credit} {
        for (uint32_t own : {0u, 1u}) processes_.emplace_back(*node_.paths[own], settings_, own);
    }
    void act() {
        auto own = static_cast<uint32_t>(random_.below(2));
        switch (random_.below(4)) {
            case 0: processes_[own].step(); break;
            case 1: receive(own); break;
            default: send(own); break;
        }
        for (uint32_t from : {0u, 1u})
            EXPECT_LE(known_credit(from), credit_) << "process " << 1 - from << " has returned credit twice";
    }
    void end() {
        for (uint32_t own : {0u, 1u})
            while (!under_way_[1 - own].empty() && !::testing::Test::HasFailure()) receive(own);
        for (int turn = 0; turn < 3; ++turn)
            for (Process &process : processes_) process.step();
        for (uint32_t from : {0u, 1u}) EXPECT_EQ(known_credit(from), credit_) << "all has been consumed";
    }

private:
    static Buffer buffer(std::string &bytes) {
        return {reinterpret_cast<std::byte *>(bytes.data()), static_cast<int64_t>(bytes.size()),
                predefined_datatype(abi::type_byte)};
    }
    // The credit that one process has left, plus what the other has consumed and not yet returned.
    int64_t known_credit(uint32_t from) {
        return processes_[from].messenger.endpoint().peers[1 - from].credit_left +
               processes_[1 - from].messenger.endpoint().peers[from].credit_owed;
    }
    void send(uint32_t own) {
        std::string bytes(random_.below(random_.chance(50) ? 40 : 1000),
                          static_cast<char>('a' + random_.below(26)));
        EngineGuard guard(processes_[own].engine);
        if (processes_[own].messenger.send_now(1 - own, {context, static_cast<int32_t>(own), 1},
                                               buffer(bytes)))
            under_way_[own].push_back(bytes);
    }
    // Receives the next message. If the shortcut is possible, it is mostly used. Otherwise a receive is
    // posted.
    void receive(uint32_t own) {
        std::deque<std::string> &arriving = under_way_[1 - own];
        if (arriving.empty()) return;
        Process &process = processes_[own];
        MatchKey key{context, static_cast<int32_t>(1 - own), 1};
        std::string bytes(arriving.front().size() + random_.below(3), '\0');
        Envelope taken{};
        auto receive_now = [&] {
            EngineGuard guard(process.engine);
            return process.messenger.receive_now(1 - own, key, buffer(bytes), 1, taken);
        };
        if (random_.chance(70) && receive_now()) {
            bytes.resize(taken.length);
        } else {
            sim::Transfer receive(false);
            receive.describe(key, buffer(bytes), 1 - own);
            {
                EngineGuard guard(process.engine);
                receive.start(process.messenger);
            }
            for (int turn = 0; turn < 100 && !receive.done(); ++turn) process.step();
            ASSERT_TRUE(receive.done());
            bytes.resize(static_cast<size_t>(receive.in.received));
        }
        EXPECT_EQ(bytes, arriving.front());
        arriving.pop_front();
    }

    sim::Random &random_;
    const int64_t credit_;
    const Settings settings_;
    conformance::ShmConnected node_{2, false};
    std::deque<Process> processes_;
    std::deque<std::string> under_way_[2];  // by sender
};

TEST(ShortWays, TakeEachMessageAndItsCreditOnce) {
    sim::for_seeds(50, 3, [](uint64_t seed) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        sim::Random random(seed);
        ShortWays ways(random, static_cast<int64_t>(credit_unit) * random.between(0, 200));
        for (int i = 0; i < 500 && !::testing::Test::HasFailure(); ++i) ways.act();
        ways.end();
        return !::testing::Test::HasFailure();
    });
}

}  // namespace
}  // namespace lanyard
