// Tests a protocol that is built on p2p from outside (put_protocol.h), over every path. Two processes
// make random puts and exchange ordinary messages. The memory is compared with memory into which the
// test has written the same bytes directly.
#include <gtest/gtest.h>

#include <deque>

#include "base/abi_constants.h"
#include "base/valgrind.h"
#include "conformance/kinds.h"
#include "conformance/put_protocol.h"
#include "datatype/predefined.h"
#include "net/sim/random.h"
#include "sim/seeds.h"

namespace lanyard::conformance {
namespace {

class PutTest : public ::testing::TestWithParam<Kind> {
protected:
    static constexpr size_t window_bytes = 3'000'000;

    class Clock final : public Idle {
    public:
        explicit Clock(Connected &connected) : connected_(connected) {}
        Action next(uint32_t, uint64_t, uint64_t) override { return Action::spin; }
        void yield() override {}
        uint64_t now_ns() override { return connected_.now_ns(); }
        void arm() override {}
        void sleep(uint64_t) override {}
        void disarm() override {}
        void wake() override {}

    private:
        Connected &connected_;
    };

    struct Process {
        Process(Connected &connected, const Settings &settings, uint32_t own)
            : clock(connected),
              engine(clock),
              messenger(engine, settings, own, static_cast<uint32_t>(connected.paths.size())),
              puts(messenger) {
            engine.add_path(*connected.paths[own]);
            for (uint32_t peer = 0; peer < connected.paths.size(); ++peer)
                if (peer != own || connected.paths.size() == 1) messenger.route(peer, *connected.paths[own]);
            window.resize(window_bytes);
            expected.resize(window_bytes);
            puts.open(window.data(), window.size());
        }
        Clock clock;
        Engine engine;
        Messenger messenger;
        PutProtocol puts;
        std::vector<std::byte> window, expected;
    };

    void SetUp() override {
        if (std::string lack = GetParam().lacks(); !lack.empty()) GTEST_SKIP() << lack;
    }
    // Reduces `bytes` to what a path with tiny frames can carry in a short time. Some simulated networks
    // have frames of one byte.
    size_t carried_soon(size_t bytes, size_t frames = 500) const {
        return std::min(bytes, frames * connected->paths[0]->info.max_bulk);
    }
    void step() {
        for (auto &process : processes) process->engine.make_turn();
    }
    // Makes steps until `over` is true. Returns false if nothing has arrived for 20 s; the time is
    // long because some simulated networks are slow.
    template <class Over>
    bool steps_until(Over over) {
        uint64_t end_ns = 0, before = UINT64_MAX;
        while (!over()) {
            uint64_t frames = 0;
            for (auto &process : processes) frames += process->puts.frames();
            if (frames != before) end_ns = clock_ns() + 20'000'000'000;
            else if (clock_ns() > end_ns) return false;
            before = frames;
            for (int turn = 0; turn < 100 && !over(); ++turn) step();
        }
        return true;
    }

    Settings settings;
    std::unique_ptr<Connected> connected;
    std::vector<std::unique_ptr<Process>> processes;
};

TEST_P(PutTest, WritesWhatItSaysAndNothingElse) {
    sim::Random random(sim::first_seed());
    SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(sim::first_seed()));
    connected = GetParam().connect(2, random.next());
    ASSERT_NE(connected, nullptr);
    auto count = static_cast<uint32_t>(connected->paths.size());
    for (uint32_t own = 0; own < count; ++own)
        processes.push_back(std::make_unique<Process>(*connected, settings, own));

    int begun = 0, over = 0, refused = 0, messages = 0;
    std::deque<std::vector<std::byte>> data;
    std::deque<SendOperation> sends;
    for (int i = 0; i < 60; ++i) {
        auto from = static_cast<uint32_t>(random.below(count)), to = count - 1 - from;
        size_t bytes = random.below(random.chance(30) ? carried_soon(400'000) : 3'000),
               offset = random.below(window_bytes - bytes);
        std::vector<std::byte> &source = data.emplace_back(bytes);
        for (std::byte &each : source) each = static_cast<std::byte>(random.next());
        bool exists = random.chance(95);
        ++begun;
        processes[from]->puts.put(to, exists ? 0 : 7, offset, source.data(), bytes, [&](bool in_place) {
            ++over;
            refused += !in_place;
        });
        // Each put waits for the previous ones, because the order of puts to the same place is not
        // tested here.
        ASSERT_TRUE(steps_until([&] { return over == begun; }))
            << "put " << i << " of " << bytes << " bytes is not over";
        if (exists)
            std::copy(source.begin(), source.end(),
                      processes[to]->expected.begin() + static_cast<std::ptrdiff_t>(offset));
        refused -= !exists;
        if (!random.chance(50)) continue;
        SendOperation &send = sends.emplace_back();
        static_cast<MatchKey &>(send) = {4000, static_cast<int32_t>(from), 7};
        send.buffer = {source.data(), static_cast<int64_t>(std::min<size_t>(bytes, 100)),
                       predefined_datatype(abi::type_byte)};
        send.peer = to;
        processes[from]->messenger.send(send);
        ++messages;
    }
    auto stored = [&] {
        size_t all = 0;
        for (auto &process : processes) all += process->messenger.unexpected().count();
        return all == static_cast<size_t>(messages);
    };
    EXPECT_TRUE(steps_until(stored));
    EXPECT_EQ(refused, 0);
    for (auto &process : processes) {
        EXPECT_TRUE(process->window == process->expected);
        EXPECT_EQ(process->puts.open_puts(), 0u);
    }
}

TEST_P(PutTest, SeveralAtOnceComeAll) {
    sim::Random random(sim::first_seed() + 1);
    connected = GetParam().connect(2, random.next());
    ASSERT_NE(connected, nullptr);
    auto count = static_cast<uint32_t>(connected->paths.size());
    for (uint32_t own = 0; own < count; ++own)
        processes.push_back(std::make_unique<Process>(*connected, settings, own));
    const int at_once = under_valgrind() ? 10 : 40;
    const size_t bytes = carried_soon(50'000, 50);
    std::vector<std::byte> source(static_cast<size_t>(at_once) * bytes);
    for (std::byte &each : source) each = static_cast<std::byte>(random.next());
    int over = 0;
    for (int i = 0; i < at_once; ++i) {
        size_t offset = static_cast<size_t>(i) * bytes;
        processes[0]->puts.put(count - 1, 0, offset, source.data() + offset, bytes,
                               [&](bool in_place) { over += in_place; });
    }
    EXPECT_TRUE(steps_until([&] { return over == at_once; })) << over << " are over";
    EXPECT_TRUE(std::equal(source.begin(), source.end(), processes.back()->window.begin()));
}

INSTANTIATE_TEST_SUITE_P(Path, PutTest, ::testing::ValuesIn(all_kinds()),
                         [](const auto &about) { return std::string(about.param.name); });

}  // namespace
}  // namespace lanyard::conformance
