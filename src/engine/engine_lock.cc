// See engine_lock.h.
#include "engine/engine_lock.h"

#include <sched.h>

#include "base/spin_lock.h"
#include "base/futex.h"

namespace lanyard {

namespace {
constexpr int spins = 2000;
constexpr int yields = 20;
constexpr int turns_aside = 64;
}  // namespace

void EngineLock::take_slowly() {
    contenders_.fetch_add(1, std::memory_order_relaxed);
    for (int turn = 0;; ++turn) {
        if (turn < spins + yields) {
            if (is_free(owned_.load(std::memory_order_relaxed)) && try_take()) break;
            if (turn < spins) cpu_relax();
            else sched_yield();
        } else {
            // A thread that has slept does not know whether others still sleep. It therefore takes the engine
            // as "wanted", so that release() wakes the next sleeping thread.
            uint32_t before = owned_.exchange(taken_and_wanted, std::memory_order_acquire);
            if (is_free(before)) {
                mark_.set();
                break;
            }
            futex_wait(owned_, taken_and_wanted, no_limit, false);
        }
    }
    contenders_.fetch_sub(1, std::memory_order_relaxed);
}

void EngineLock::wake_one() { futex_wake(owned_, 1, false); }

void EngineLock::step_aside() const {
    for (int turn = 0; turn < turns_aside && is_wanted() && is_free(owned_.load(std::memory_order_relaxed));
         ++turn)
        cpu_relax();
}

}  // namespace lanyard
