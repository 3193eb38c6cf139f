// See sleepers.h.
#include "engine/sleepers.h"

#include "base/futex.h"

namespace lanyard {

void Sleepers::enter(Sleeper &sleeper) {
    {
        SpinGuard guard(lock_);
        sleeper.watcher = !watched_;
        if (sleeper.watcher) watched_ = true;
        list_.push_back(sleeper);
        count_.fetch_add(1, std::memory_order_seq_cst);
    }
    if (sleeper.watcher) idle_.arm();
}

// The callers own the engine. So a watcher has set its deadline before another thread comes here, or the
// watcher will find the other thread's deadline in its own.
void Sleepers::set_deadline(const Sleeper &sleeper, uint64_t deadline_ns) {
    SpinGuard guard(lock_);
    if (sleeper.watcher) watched_until_ns_ = deadline_ns;
    else if (watched_ && deadline_ns < watched_until_ns_) idle_.wake();
}

void Sleepers::sleep(Sleeper &sleeper) {
    if (sleeper.watcher) idle_.sleep(watched_until_ns_);
    else futex_wait(sleeper.signal, 0, no_limit, false);
}

void Sleepers::leave(Sleeper &sleeper) {
    if (sleeper.watcher) idle_.disarm();
    SpinGuard guard(lock_);
    sleeper.hook.unlink();
    count_.fetch_sub(1, std::memory_order_relaxed);
    if (sleeper.watcher) watched_ = false;
}

void Sleepers::wake(Sleeper &sleeper) {
    sleeper.signal.store(1, std::memory_order_release);
    futex_wake(sleeper.signal, 1, false);
}

void Sleepers::pass_watch() {
    SpinGuard guard(lock_);
    if (Sleeper *successor = watched_ ? nullptr : list_.front()) wake(*successor);
}

void Sleepers::tell(bool step_is_due, uint64_t deadline_ns) {
    SpinGuard guard(lock_);
    step_is_due |= deadline_ns < watched_until_ns_;
    for (Sleeper *sleeper = list_.front(); sleeper; sleeper = list_.after(*sleeper)) {
        if (!(step_is_due && sleeper->watcher) && !sleeper->condition()) continue;
        if (sleeper->watcher) idle_.wake();
        else wake(*sleeper);
    }
}

}  // namespace lanyard
