// See process_idle.h.
#include "engine/process_idle.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>

#include "base/epoll.h"
#include "base/wait_record.h"
#include "path/path.h"

namespace lanyard {

namespace {

// Waking a sleeper costs 3 to 15 us, on virtual machines up to 50 us. Polling memory while spinning disturbs
// no other process. Polling sockets disturbs others, so a process spins for a shorter time at sockets.
constexpr uint64_t spin_at_memory_ns = 100'000, spin_at_sockets_ns = 30'000;
// Where each rank has a processor of its own, the process then yields between its turns, in case another
// program needs the processor. It sleeps when a wake-up prolongs the wait by 3 % at most.
constexpr uint64_t patience_ns = 2'000'000;
constexpr uint32_t usual_yields = 6;
// The number of yields alone does not suffice: if a rank has a processor for itself at the moment, each of
// its yields returns at once, while its peers take turns on another processor. The rank would then sleep too
// early.
constexpr uint64_t usual_yield_ns = 60'000;
// Peers of the node in another network namespace see the segment but not the doorbell, so they cannot ring. A
// process that sleeps at a doorbell and has a shared sleep word therefore never sleeps without a limit.
constexpr uint64_t longest_sleep_ns = 200'000'000;

}  // namespace

IdlePolicy choose_idle_policy(int ranks, int processors, bool sockets, int64_t spin_us) {
    bool oversubscribed = ranks > processors;
    uint64_t spin_ns = spin_us >= 0     ? static_cast<uint64_t>(spin_us) * 1000
                       : oversubscribed ? 0
                       : sockets        ? spin_at_sockets_ns
                                        : spin_at_memory_ns;
    uint64_t yield_ns = oversubscribed ? usual_yield_ns : spin_us >= 0 ? 0 : patience_ns;
    return {spin_ns, oversubscribed ? usual_yields : 0, oversubscribed, yield_ns};
}

ProcessIdle::~ProcessIdle() {
    if (epoll_ >= 0) close(epoll_);
}

bool ProcessIdle::use_descriptors() {
    bell_ = std::make_unique<Doorbell>();
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    if (bell_->descriptor() < 0 || epoll_ < 0 || !epoll_add(epoll_, bell_->descriptor(), EPOLLIN))
        return false;
    word_->bell.store(bell_->name(), std::memory_order_relaxed);
    return true;
}

bool ProcessIdle::watch(int descriptor) { return epoll_add(epoll_, descriptor, EPOLLIN); }
void ProcessIdle::forget(int descriptor) { epoll_remove(epoll_, descriptor); }

Idle::Action ProcessIdle::next(uint32_t idle_turns, uint64_t idle_since_ns, uint64_t now_ns) {
    if (record_ && record_->since_ns == 0) record_->since_ns = now_ns;
    if (now_ns - idle_since_ns < policy_.spin_ns) return Action::spin;
    return idle_turns <= policy_.yields || now_ns - idle_since_ns < policy_.yield_ns ? Action::yield
                                                                                     : Action::sleep;
}

void ProcessIdle::yield() { sched_yield(); }

void ProcessIdle::arm() { word_->fall_asleep_soon(bell_ ? SleepWord::at_doorbell : SleepWord::on_futex); }

void ProcessIdle::quieten() {
    if (bell_) bell_->quieten();
}

void ProcessIdle::sleep(uint64_t deadline_ns) {
    uint64_t limit_ns = no_limit;
    if (deadline_ns != no_deadline) {
        uint64_t now = clock_ns();
        if (deadline_ns <= now) return;
        limit_ns = deadline_ns - now;
    }
    if (bell_) sleep_at_doorbell(limit_ns);
    else word_->sleep(limit_ns, shared_);
}

void ProcessIdle::sleep_at_doorbell(uint64_t limit_ns) {
    if (shared_) limit_ns = std::min(limit_ns, longest_sleep_ns);
    epoll_event events[4];
    int count = epoll_sleep(epoll_, events, limit_ns);
    for (int i = 0; i < count; ++i)
        if (events[i].data.fd == bell_->descriptor()) bell_->quieten();
}

}  // namespace lanyard
