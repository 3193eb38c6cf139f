// In builds for tests, the engine knows which thread owns it, and a caller that is not the owner fails.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "engine/engine.h"
#include "engine/owner_mark.h"
#include "engine/process_idle.h"

namespace lanyard {
namespace {

TEST(OwnerMark, EveryCallerPassesWhereNothingWasTaken) {
    OwnerMark mark;
    EXPECT_TRUE(mark.allows_caller());
}

#ifdef LANYARD_OWNER_CHECKS
TEST(OwnerMark, OnlyTheThreadThatTookItPasses) {
    OwnerMark mark;
    mark.set();
    EXPECT_TRUE(mark.allows_caller());
    std::thread([&] { EXPECT_FALSE(mark.allows_caller()); }).join();
    mark.clear();
    EXPECT_FALSE(mark.allows_caller());
    std::thread([&] {
        mark.set();
        EXPECT_TRUE(mark.allows_caller());
    }).join();
    EXPECT_FALSE(mark.allows_caller());
}

TEST(OwnerMark, LockKeepsItWhetherTakenAtOnceOrAfterWaiting) {
    EngineLock lock;
    lock.take();
    EXPECT_TRUE(lock.allows_caller());
    std::thread other([&] {
        EXPECT_FALSE(lock.allows_caller());
        lock.take();  // spins, yields or sleeps until the first owner gives it up
        EXPECT_TRUE(lock.allows_caller());
        lock.release(EngineLock::free);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    lock.release(EngineLock::free);
    other.join();
    EXPECT_FALSE(lock.allows_caller());
    lock.set_single_threaded(true);
    EXPECT_TRUE(lock.allows_caller()) << "the program promised that no two threads are in MPI";
}

TEST(OwnerMarkDeathTest, StepWithoutTheEngineFails) {
    ProcessIdle idle(IdlePolicy{0, 0, false});
    Engine engine(idle);
    { EngineGuard guard(engine); }
    EXPECT_DEATH(engine.make_turn(), "the caller has not taken the engine");
}
#endif

}  // namespace
}  // namespace lanyard
