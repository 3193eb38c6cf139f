#include "engine/process_idle.h"

#include <sched.h>

#include "base/clock.h"
#include "base/futex.h"
#include "base/wait_record.h"
#include "path/shm/shm_path.h"

namespace lanyard {

namespace {
constexpr uint64_t usual_spin_ns = 30'000;  // waking a sleeper costs 3 to 15 us on the machines measured
constexpr uint32_t usual_yields = 6;
}  // namespace

IdlePolicy choose_idle_policy(int ranks, int processors, int64_t spin_us) {
    bool crowded = ranks > processors;
    uint64_t spin_ns = spin_us >= 0 ? static_cast<uint64_t>(spin_us) * 1000 : crowded ? 0 : usual_spin_ns;
    return {spin_ns, crowded ? usual_yields : 0, crowded};
}

Idle::Action ProcessIdle::next(uint32_t idle_turns, uint64_t idle_since_ns, uint64_t now_ns) {
    if (record_ && record_->since_ns == 0) record_->since_ns = now_ns;
    if (now_ns - idle_since_ns < policy_.spin_ns) return Action::spin;
    return idle_turns <= policy_.yields ? Action::yield : Action::sleep;
}

void ProcessIdle::yield() { sched_yield(); }

void ProcessIdle::arm() {
    if (shm_) return shm_->arm();
    asleep_.store(1, std::memory_order_seq_cst);
}

void ProcessIdle::sleep(uint64_t deadline_ns) {
    if (shm_) return shm_->sleep(deadline_ns);
    uint64_t limit_ns = 0;
    if (deadline_ns != no_deadline) {
        uint64_t now = clock_ns();
        if (deadline_ns <= now) return;
        limit_ns = deadline_ns - now;
    }
    futex_wait(asleep_, 1, limit_ns, false);
}

void ProcessIdle::disarm() {
    if (shm_) return shm_->disarm();
    asleep_.store(0, std::memory_order_relaxed);
}

void ProcessIdle::wake() {
    if (shm_) return shm_->wake();
    if (asleep_.exchange(0)) futex_wake(asleep_, 1, false);
}

}  // namespace lanyard
