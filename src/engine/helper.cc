// See helper.h.
#include "engine/helper.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <exception>

#include "base/clock.h"
#include "base/log.h"
#include "base/race_checker.h"
#include "engine/engine.h"

namespace lanyard {

namespace {

constexpr uint64_t doze_ns = 10'000'000;
constexpr uint64_t shortest_nap_ns = 20'000;
constexpr uint64_t first_lookout_ns = 2'000'000;

}  // namespace

Helper::Helper(Engine &engine, int sockets, uint64_t period_ns)
    : engine_(engine), bell_(sockets), period_ns_(period_ns) {}

void Helper::stop() {
    if (getpid() != process_) return;  // the thread belongs to the parent
    if (stopped_.exchange(true)) return;
    std::lock_guard guard(starting_);  // a thread that leaves MPI may be in start() at this moment
    if (!thread_.joinable()) return;
    bell_.ring();
    thread_.join();
}

// All signals are blocked in the helper, since they belong to the program.
void Helper::start() {
    std::lock_guard guard(starting_);
    if (started_.load() || stopped_.load()) return;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        thread_ = std::thread([this] {
            race_checker::Unseen unseen;
            period_ns_ ? run_by_clock() : run();
        });
        pthread_setname_np(thread_.native_handle(), "lanyard-helper");
    } catch (const std::exception &) {
        log(LogLevel::warn, "engine",
            "no thread can be made: messages move only while the program is inside MPI");
        stopped_.store(true);
    }
    started_.store(true);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Helper::program_leaves(bool under_way, bool unacknowledged) {
    if (period_ns_) return;
    uint32_t departures = departures_.fetch_add(1, std::memory_order_seq_cst) + 1;
    if (!under_way && !unacknowledged) return;
    if (!started_.load(std::memory_order_relaxed)) start();
    if (under_way && !armed_.load(std::memory_order_relaxed) && expects_absence()) arm(departures);
    if (!dozing_.load(std::memory_order_seq_cst) && !dozing_.exchange(true)) bell_.ring();
}

// A helper with a period finds the task when it next wakes.
void Helper::task_posted() {
    if (period_ns_) return;
    if (!started_.load(std::memory_order_acquire)) start();
    bell_.ring();
}

// Has the program been away for a long time although it was expected back at once?
bool Helper::stays_away() const {
    return !expects_absence() && absences_.lasts(prefers_dozing_ ? doze_ns : Absences::brief_ns);
}

void Helper::arm(uint32_t departures) {
    if (armed_.exchange(true)) return;
    armed_at_.store(departures, std::memory_order_relaxed);
    times_armed_.fetch_add(1, std::memory_order_relaxed);
    bell_.arm();
}

void Helper::disarm() {
    if (armed_.exchange(false)) bell_.disarm();
}

void Helper::run() {
    prctl(PR_SET_TIMERSLACK, 1);  // so that naps last no longer than requested
    uint64_t limit_ns = doze_ns, nap_ns = shortest_nap_ns, lookout_ns = first_lookout_ns;
    uint32_t seen = departures_.load() - 1;
    bool napping = false;
    while (!stopped_.load(std::memory_order_relaxed)) {
        bool something = bell_.wait(limit_ns);
        woken_.fetch_add(1, std::memory_order_relaxed);
        uint32_t departures = departures_.load(std::memory_order_seq_cst);
        bool away = departures == seen || stays_away() ||
                    (something && departures == armed_at_.load(std::memory_order_relaxed));
        away |= engine_.has_posted() || attentive();
        bool coming_and_going = something || napping;
        napping = false;
        seen = departures;
        if (engine_.someone_sleeps()) {  // the sleeping thread polls the sockets
            limit_ns = pause(departures);
        } else if (away && engine_.try_take()) {
            nap_ns = shortest_nap_ns;
            limit_ns = serve(departures);
        } else if ((away || coming_and_going) && nap_ns < doze_ns) {
            limit_ns = nap_ns;
            nap_ns *= 2;
            napping = true;
        } else {
            armed_.store(false, std::memory_order_relaxed);
            nap_ns = shortest_nap_ns;
            bool looks_out = !expects_absence() && !prefers_dozing_;
            limit_ns = looks_out ? lookout_ns : doze_ns;
            lookout_ns = looks_out ? std::min(2 * lookout_ns, doze_ns) : first_lookout_ns;
        }
    }
}

// A thread that sleeps inside MPI takes care of everything itself, including timers.
void Helper::run_by_clock() {
    while (!stopped_.load(std::memory_order_relaxed)) {
        bell_.wait(period_ns_);  // on the bell alone, since the sockets are not armed
        woken_.fetch_add(1, std::memory_order_relaxed);
        if (engine_.someone_sleeps() || !engine_.try_take()) continue;
        engine_.help();
        engine_.give_up();
    }
}

// Called when the helper has nothing to do until a thread leaves MPI again. Returns how long to sleep.
uint64_t Helper::pause(uint32_t departures) {
    armed_.store(false, std::memory_order_relaxed);
    dozing_.store(false, std::memory_order_seq_cst);
    if (departures == departures_.load(std::memory_order_seq_cst) && !engine_.has_posted()) return no_limit;
    dozing_.store(true, std::memory_order_relaxed);
    return doze_ns;
}

// Called by the owner of the engine. Advances everything as far as possible and gives the engine up. Returns
// how long to sleep.
uint64_t Helper::serve(uint32_t departures) {
    armed_.store(false, std::memory_order_relaxed);
    bool all = engine_.help();
    bool left = engine_.under_way() || engine_.has_unacknowledged();
    uint64_t deadline_ns = engine_.deadline_ns();
    engine_.give_up(absences_.lasts() ? EngineLock::left_open : EngineLock::free);
    if (!all) return doze_ns;
    if (!left) return pause(departures);
    if (prefers_dozing_ && !attentive()) return doze_ns;
    arm(departures);
    uint64_t now_ns = clock_ns();
    return std::min(doze_ns, deadline_ns > now_ns ? deadline_ns - now_ns : 0);
}

}  // namespace lanyard
