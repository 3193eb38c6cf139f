// Follows events from the layer that reports them until they reach the callbacks of a tool. They must arrive
// in order, outside the engine, and never more often than they happened.
#include "tool/event.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "engine/engine.h"
#include "engine/process_idle.h"

namespace lanyard::tool {
namespace {

// A host that has an engine and no runtime.
struct EngineHost final : Host {
    explicit EngineHost(Engine &of) : engine(of) {}
    Settings &settings() override { return own; }
    void while_still(const std::function<void()> &act) override { act(); }
    void settings_changed() override {}
    void call_after_leaving(void (*function)()) override { engine.call_after_leaving(function); }

    Engine &engine;
    Settings own;
};

class Events : public ::testing::Test {
protected:
    Events() {
        set_host(&host);
        begin_events();
    }
    ~Events() override {
        free_all_registrations();
        end_events();
        set_host(nullptr);
    }

    EventRegistration &make(Event event) {
        EventRegistration *made = nullptr;
        make_registration(event_table()[static_cast<size_t>(event)], {}, made).discard();
        return *made;
    }
    // Returns a callback that appends the first value of each event to `values`.
    EventFunction noting(std::vector<int> &values) {
        return [&values](EventInstance &instance, EventRegistration &, int, void *) {
            int value = 0;
            read_event(instance, 0, &value);
            values.push_back(value);
        };
    }
    // Reports an event in the way a layer does: while it owns the engine.
    void happens(Event event, int value) {
        engine.take();
        if (event_wanted(event)) tell_event(event, 0, {value});
        engine.give_up();
    }
    void call_mpi() { EngineGuard guard(engine); }

    ProcessIdle idle{IdlePolicy{}};
    Engine engine{idle};
    EngineHost host{engine};
};

TEST_F(Events, AreToldWhenAThreadOfTheProgramHasLeft) {
    std::vector<int> values, others;
    EventRegistration &made = make(Event::connection_made);
    set_event_function(made, 0, noting(values), nullptr);
    set_event_function(make(Event::peer_lost), 0, noting(others), nullptr);
    for (int i = 0; i < 5; ++i) happens(Event::connection_made, i);
    happens(Event::connection_broken, 7);
    EXPECT_TRUE(values.empty()) << "the engine's owner calls no function of the program";
    call_mpi();
    EXPECT_EQ(values, (std::vector<int>{0, 1, 2, 3, 4}));
    call_mpi();
    EXPECT_EQ(values.size(), 5u);
    EXPECT_TRUE(others.empty());
}

TEST_F(Events, AreWantedOnlyWhileThereIsAFunction) {
    std::vector<int> values;
    EXPECT_FALSE(event_wanted(Event::peer_lost));
    EventRegistration &made = make(Event::peer_lost);
    EXPECT_FALSE(event_wanted(Event::peer_lost));
    set_event_function(made, 1, noting(values), nullptr);
    EXPECT_TRUE(event_wanted(Event::peer_lost));
    EXPECT_FALSE(event_wanted(Event::connection_made));
    set_event_function(made, 1, {}, nullptr);
    EXPECT_FALSE(event_wanted(Event::peer_lost));
    happens(Event::peer_lost, 1);
    call_mpi();
    EXPECT_TRUE(values.empty());
}

TEST_F(Events, GoToTheLeastRestrictiveFunction) {
    std::vector<int> restricted, safe, free;
    EventRegistration &made = make(Event::peer_lost);
    set_event_function(made, 3, noting(safe), nullptr);
    set_event_function(made, 1, noting(restricted), nullptr);
    happens(Event::peer_lost, 1);
    call_mpi();
    set_event_function(made, 0, noting(free), nullptr);
    happens(Event::peer_lost, 2);
    call_mpi();
    EXPECT_EQ(restricted, std::vector<int>{1});
    EXPECT_EQ(free, std::vector<int>{2});
    EXPECT_TRUE(safe.empty());
}

TEST_F(Events, OfBeforeARegistrationAreNotForIt) {
    std::vector<int> first, second;
    set_event_function(make(Event::peer_lost), 0, noting(first), nullptr);
    happens(Event::peer_lost, 1);
    set_event_function(make(Event::peer_lost), 0, noting(second), nullptr);
    happens(Event::peer_lost, 2);
    call_mpi();
    EXPECT_EQ(first, (std::vector<int>{1, 2}));
    EXPECT_EQ(second, std::vector<int>{2});
}

TEST_F(Events, ThatFindNoRoomAreCounted) {
    std::vector<int> values;
    int64_t dropped = 0;
    EventRegistration &made = make(Event::peer_lost);
    set_event_function(made, 0, noting(values), nullptr);
    set_dropped_function(made, [&](int64_t count, EventRegistration &which, int, int, void *) {
        EXPECT_EQ(&which, &made);
        dropped += count;
    });
    for (int i = 0; i < 2000; ++i) happens(Event::peer_lost, i);
    call_mpi();
    EXPECT_GE(values.size(), 1000u);
    EXPECT_LT(values.size(), 2000u);
    EXPECT_EQ(values.size() + static_cast<size_t>(dropped), 2000u);
    EXPECT_EQ(values.back(), static_cast<int>(values.size()) - 1);
    happens(Event::peer_lost, 9999);
    call_mpi();
    EXPECT_EQ(values.back(), 9999);
    EXPECT_EQ(dropped, 2000 - static_cast<int64_t>(values.size()) + 1);
}

TEST_F(Events, AreToldBeforeTheirRegistrationIsFreed) {
    std::vector<int> values;
    bool freed = false;
    EventRegistration &made = make(Event::peer_lost);
    set_event_function(made, 0, noting(values), nullptr);
    happens(Event::peer_lost, 4);
    free_registration(made, [&](EventRegistration &, int) {
        EXPECT_EQ(values, std::vector<int>{4});
        freed = true;
    });
    EXPECT_TRUE(freed);
    EXPECT_FALSE(event_wanted(Event::peer_lost));
}

TEST_F(Events, MayEndTheirRegistrationAndCallMpi) {
    int calls = 0, freed = 0;
    EventRegistration &made = make(Event::peer_lost);
    set_event_function(made, 0, [&](EventInstance &, EventRegistration &which, int, void *) {
        ++calls;
        happens(Event::peer_lost, 6);
        call_mpi();
        free_registration(which, [&](EventRegistration &, int) { ++freed; });
        EXPECT_EQ(freed, 0) << "it is in use";
    }, nullptr);
    happens(Event::peer_lost, 1);
    happens(Event::peer_lost, 2);
    call_mpi();
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(freed, 1);
    Error gone = find_registration(&made);
    EXPECT_EQ(gone.code(), abi::t_err_invalid_handle);
    gone.discard();
}

// Several threads cause events and call MPI at once. Each event is either delivered once or counted as
// dropped. Delivery is in order, by one thread at a time.
TEST_F(Events, AreToldOnceByWhicheverThread) {
    constexpr int threads = 4, times = 3000;
    std::atomic<int> inside{0};
    std::vector<int> values;
    int64_t dropped = 0;
    uint64_t latest_ns = 0;
    EventRegistration &made = make(Event::connection_broken);
    set_event_function(made, 0, [&](EventInstance &instance, EventRegistration &, int, void *) {
        EXPECT_EQ(inside.fetch_add(1), 0);
        EXPECT_GE(instance.record.time_ns, latest_ns);
        latest_ns = instance.record.time_ns;
        values.push_back(static_cast<int>(instance.record.values[0]));
        inside.fetch_sub(1);
    }, nullptr);
    set_dropped_function(made,
                         [&](int64_t count, EventRegistration &, int, int, void *) { dropped += count; });
    std::vector<std::thread> running;
    for (int thread = 0; thread < threads; ++thread)
        running.emplace_back([&, thread] {
            for (int i = 0; i < times; ++i) {
                happens(Event::connection_broken, thread * times + i);
                call_mpi();
            }
        });
    for (std::thread &thread : running) thread.join();
    call_mpi();
    EXPECT_EQ(values.size() + static_cast<size_t>(dropped), static_cast<size_t>(threads * times));
    std::vector<int> last(threads, -1);
    for (int value : values) {
        EXPECT_GT(value % times, last[static_cast<size_t>(value / times)]);
        last[static_cast<size_t>(value / times)] = value % times;
    }
}

TEST(EventTable, IsInTheOrderOfTheEventsAndAligned) {
    for (size_t i = 0; i < event_table().size(); ++i) {
        const EventRow &row = event_table()[i];
        EXPECT_EQ(static_cast<size_t>(row.event), i);
        EXPECT_LE(row.elements.size(), static_cast<size_t>(most_event_values));
        for (const EventElement &element : row.elements)
            EXPECT_EQ(element.displacement % (element.datatype == abi::type_int ? 4 : 8), 0);
    }
}

TEST_F(Events, RegistrationsComeAndGoInSeveralThreads) {
    std::atomic<int> freed{0};
    constexpr int threads = 3, rounds = 200;
    auto come_and_go = [&] {
        for (int i = 0; i < rounds; ++i) {
            EventRegistration *made;
            {
                std::lock_guard guard(tool_lock());
                made = &make(Event::connection_made);
                set_event_function(
                    *made, 0, [](EventInstance &, EventRegistration &, int, void *) {}, nullptr);
            }
            free_registration(*made, [&](EventRegistration &, int) { ++freed; });
        }
    };
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) all.emplace_back(come_and_go);
    for (std::thread &each : all) each.join();
    EXPECT_EQ(freed, threads * rounds);
    EXPECT_FALSE(event_wanted(Event::connection_made));
}

}  // namespace
}  // namespace lanyard::tool
