// Tests the helper with real threads, and with a path whose work the tests make. The helper must make steps
// if the program is away (outside MPI) and something is under way, and only then.
#include "engine/helper.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "engine/engine.h"
#include "engine/process_idle.h"
#include "unit/engine/stubs.h"

namespace lanyard {
namespace {

// Becomes readable when the test gives it work. Counts the polls by threads other than the program's.
class EventPath final : public StubPath {
public:
    EventPath() : StubPath(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)), event_(info.descriptor) {}
    ~EventPath() override { ::close(event_); }

    PathActivity activity() const override {
        return {.io_pending = is_busy, .unacknowledged = has_unacknowledged};
    }
    int poll(Sink &, int, uint64_t) override {
        if (std::this_thread::get_id() != program_) ++polls_by_helper;
        uint64_t work = 0;
        if (read(event_, &work, sizeof work) < 0) work = 0;
        done += static_cast<int>(work);
        return endless || work > 0;
    }
    void prepare_to_sleep(bool process_sleeps) override { shown += !process_sleeps; }
    void give_work() {
        uint64_t one = 1;
        EXPECT_EQ(write(event_, &one, sizeof one), 8);
    }

    std::atomic<bool> is_busy{false}, has_unacknowledged{false}, endless{false};
    std::atomic<int> done{0}, polls_by_helper{0}, shown{0};

private:
    int event_;
    std::thread::id program_ = std::this_thread::get_id();
};

struct Program {
    explicit Program(uint64_t period_ns = 0) : helper(engine, idle.descriptor(), period_ns) {
        EXPECT_TRUE(idle.watch(path.info.descriptor));
        engine.set_sink(no_sink);
        engine.add_path(path);
        EXPECT_TRUE(usable && helper.usable());
        engine.set_helper(&helper);
        if (period_ns) helper.start();
    }
    void calls_mpi() { EngineGuard guard(engine); }

    ProcessIdle idle{IdlePolicy{0, 0, false}};
    bool usable = idle.use_descriptors();
    Engine engine{idle};
    EventPath path;
    Helper helper;
};

template <class Condition>
bool soon(Condition condition) {
    for (int turn = 0; turn < 10'000 && !condition(); ++turn) rest_ms(1);
    return condition();
}

TEST(Helper, GoesOnWithWhatIsUnderWay) {
    Program program;
    program.path.is_busy = true;
    program.calls_mpi();
    for (int given = 1; given <= 20; ++given) {
        program.path.give_work();
        EXPECT_TRUE(soon([&] { return program.path.done == given; })) << given;
    }
}

// The helper may stay armed while the program is in MPI. If a path finds something by itself meanwhile, the
// path must be able to wake the helper.
TEST(Helper, IsShownEverythingWhereItIsArmedStill) {
    Program program;
    program.path.is_busy = true;
    EXPECT_EQ(program.path.shown, 0);
    EXPECT_TRUE(soon([&] {
        program.calls_mpi();
        return program.path.shown > 0;
    }));
}

TEST(Helper, LeavesThePathAloneWhenNothingIsUnderWay) {
    Program program;
    program.calls_mpi();
    program.path.give_work();
    rest_ms(50);
    EXPECT_EQ(program.path.polls_by_helper, 0);
}

TEST(Helper, IsArmedOnceForManyCalls) {
    Program program;
    program.path.is_busy = true;
    for (int call = 0; call < 1000; ++call) program.calls_mpi();
    EXPECT_LT(program.helper.times_armed(), 100u);
    EXPECT_GT(program.helper.times_armed(), 0u);
}

// Calls MPI twice. Something is under way after the first call, and nothing after the second.
void exchanges(Program &program) {
    program.path.is_busy = true;
    program.calls_mpi();
    program.path.is_busy = false;
    program.calls_mpi();
}

TEST(Helper, IsNotArmedForAProgramThatComesBackAtOnce) {
    Program program;
    for (int exchange = 0; exchange < 1000; ++exchange) exchanges(program);
    uint64_t armings = program.helper.times_armed();
    EXPECT_LT(armings, 500u);
    // Nevertheless, the helper makes progress if the program stays away this time, and is armed the next
    // time.
    program.path.is_busy = true;
    program.calls_mpi();
    program.path.give_work();
    EXPECT_TRUE(soon([&] { return program.path.done == 1; }));
    rest_ms(1);
    program.path.is_busy = false;
    program.calls_mpi();
    EXPECT_TRUE(program.helper.expects_absence());
}

TEST(Helper, IsArmedForAProgramThatComputes) {
    Program program;
    for (int exchange = 0; exchange < 20; ++exchange) {
        program.path.is_busy = true;
        program.calls_mpi();
        rest_ms(1);
        program.path.is_busy = false;
        program.calls_mpi();
        EXPECT_TRUE(program.helper.expects_absence());
    }
}

TEST(Helper, IsNeverArmedWhereProcessorsAreSharedAndGoesOnAfterAWhile) {
    Program program;
    program.helper.prefer_dozing();
    for (int exchange = 0; exchange < 20; ++exchange) {
        program.path.is_busy = true;
        program.calls_mpi();
        rest_ms(1);
        program.path.is_busy = false;
        program.calls_mpi();
    }
    program.path.is_busy = true;
    program.calls_mpi();
    program.path.give_work();
    EXPECT_TRUE(soon([&] { return program.path.done == 1; }));
    EXPECT_EQ(program.helper.times_armed(), 0u);
}

TEST(Helper, LooksAfterWhatIsNotAcknowledged) {
    Program program;
    program.path.has_unacknowledged = true;
    program.calls_mpi();
    program.path.give_work();
    EXPECT_TRUE(soon([&] { return program.path.done == 1; }));
    EXPECT_TRUE(soon([&] { return program.helper.armed(); }));  // for the answer
    program.path.has_unacknowledged = false;
    program.path.give_work();
    EXPECT_TRUE(soon([&] { return program.path.done == 2; }));
    rest_ms(50);
    int polls = program.path.polls_by_helper;
    program.path.give_work();
    rest_ms(50);
    EXPECT_EQ(program.path.polls_by_helper, polls);
    program.path.has_unacknowledged = true;
    program.calls_mpi();
    EXPECT_TRUE(soon([&] { return program.path.done == 3; }));
}

TEST(Helper, GivesTheEngineToWhoWantsIt) {
    Program program;
    program.path.is_busy = program.path.endless = true;
    program.calls_mpi();
    program.path.give_work();
    EXPECT_TRUE(soon([&] { return program.path.polls_by_helper > 1000; }));
    for (int call = 0; call < 100; ++call) program.calls_mpi();
    program.path.endless = false;
}

TEST(Helper, LeavesTheSocketsToWhoSleepsInside) {
    Program program;
    program.path.is_busy = true;
    program.calls_mpi();
    rest_ms(30);
    std::thread inside([&] {
        EngineGuard guard(program.engine);
        program.engine.wait_owned(
            Condition{[](const void *subject) { return static_cast<const EventPath *>(subject)->done == 5; },
                      &program.path});
    });
    EXPECT_TRUE(soon([&] { return program.engine.someone_sleeps(); }));
    rest_ms(30);
    int given = 0;
    uint64_t woken = program.helper.times_woken();
    while (++given <= 5) {
        program.path.give_work();
        EXPECT_TRUE(soon([&] { return program.path.done == given; }));
    }
    inside.join();
    EXPECT_LE(program.helper.times_woken(), woken + 3);
}

struct NotingTask : Task {
    NotingTask() {
        run = [](Task &task) {
            ++static_cast<NotingTask &>(task).runs;
            return 1;
        };
    }
    std::atomic<int> runs{0};
};

// Tasks are posted when the helper has not been created yet, when it sleeps without a limit, and when it is
// notified while the program enters and leaves MPI.
TEST(Helper, RunsPostedTasksWhileTheProgramIsAway) {
    Program program;
    NotingTask task;
    for (int posted = 1; posted <= 40; ++posted) {
        if (posted % 4 == 0) program.calls_mpi();
        if (posted % 7 == 0) rest_ms(15);
        std::thread([&] { program.engine.post(task); }).join();
        if (posted % 3 == 0) program.calls_mpi();
        ASSERT_TRUE(soon([&] { return task.runs == posted; })) << posted;
    }
    rest_ms(20);
    uint64_t woken = program.helper.times_woken();
    rest_ms(50);
    EXPECT_EQ(program.helper.times_woken(), woken) << "nothing is left to do";
}

TEST(Helper, AttendsToWhatComesThoughNothingIsUnderWay) {
    Program program;
    {
        EngineGuard guard(program.engine);
        program.engine.attend();
        program.engine.attend();
        program.engine.attend_no_more();
    }
    for (int given = 1; given <= 20; ++given) {
        program.path.give_work();
        EXPECT_TRUE(soon([&] { return program.path.done == given; })) << given;
        if (given % 3 == 0) program.calls_mpi();
    }
    {
        EngineGuard guard(program.engine);
        program.engine.attend_no_more();
    }
    program.path.give_work();  // the helper is still armed for this
    rest_ms(50);
    int polls = program.path.polls_by_helper;
    program.calls_mpi();
    program.path.give_work();
    rest_ms(50);
    EXPECT_EQ(program.path.polls_by_helper, polls);
}

// Neither brief spells nor scarce processors prevent the helper from being armed.
TEST(Helper, AttendsWhateverTheHeuristicsSay) {
    for (bool dozing : {false, true}) {
        Program program;
        if (dozing) program.helper.prefer_dozing();
        for (int exchange = 0; exchange < 1000; ++exchange) exchanges(program);
        EXPECT_FALSE(dozing && program.helper.expects_absence());
        int given = 0;
        {
            EngineGuard guard(program.engine);
            program.engine.attend();
        }
        uint64_t armed = program.helper.times_armed();
        for (int turn = 0; turn < 20; ++turn) {
            program.calls_mpi();
            EXPECT_TRUE(program.helper.expects_absence());
            program.path.give_work();
            ++given;
            EXPECT_TRUE(soon([&] { return program.path.done == given; })) << given;
        }
        EXPECT_GT(program.helper.times_armed(), armed);
        EngineGuard guard(program.engine);
        program.engine.attend_no_more();
        EXPECT_FALSE(program.engine.under_way());
    }
}

constexpr uint64_t period_ns = 2'000'000;

TEST(Helper, WithAPeriodGoesOnWhateverIsUnderWay) {
    Program program(period_ns);
    for (int given = 1; given <= 20; ++given) {
        program.path.give_work();
        EXPECT_TRUE(soon([&] { return program.path.done == given; })) << given;
        program.path.is_busy = given % 2;
        program.path.has_unacknowledged = given % 3;
        program.calls_mpi();
    }
    EXPECT_EQ(program.helper.times_armed(), 0u);
}

TEST(Helper, WithAPeriodIsNotWokenInBetween) {
    Program program(20 * period_ns);
    program.path.is_busy = program.path.has_unacknowledged = true;
    program.calls_mpi();
    uint64_t woken = program.helper.times_woken(), began_ns = clock_ns();
    for (int given = 1; given <= 200; ++given) {
        program.path.give_work();
        program.calls_mpi();
        std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
    EXPECT_LE(program.helper.times_woken() - woken, (clock_ns() - began_ns) / (20 * period_ns) + 2);
}

TEST(Helper, WithAPeriodLeavesTheEngineToWhoSleepsInside) {
    Program program(period_ns);
    std::thread inside([&] {
        EngineGuard guard(program.engine);
        program.engine.wait_owned(
            Condition{[](const void *subject) { return static_cast<const EventPath *>(subject)->done == 1; },
                      &program.path});
    });
    EXPECT_TRUE(soon([&] { return program.engine.someone_sleeps(); }));
    rest_ms(5);
    int polls = program.path.polls_by_helper;  // also those by the thread inside, which sleeps
    rest_ms(20);
    EXPECT_EQ(program.path.polls_by_helper, polls);
    program.path.give_work();
    inside.join();
    EXPECT_EQ(program.path.done, 1);
}

TEST(Helper, EndsWhereverItIs) {
    for (int round = 0; round < 50; ++round) {
        Program program(round % 4 == 3 ? period_ns : 0);
        program.path.is_busy = round % 2;
        program.path.has_unacknowledged = round % 3;
        if (round % 5) program.calls_mpi();
        if (round % 7) program.path.give_work();
        program.helper.stop();
        program.helper.stop();
        program.engine.set_helper(nullptr);
    }
}

}  // namespace
}  // namespace lanyard
