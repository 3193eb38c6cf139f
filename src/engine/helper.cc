#include "engine/helper.h"

#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <exception>

#include "base/clock.h"
#include "base/epoll.h"
#include "base/log.h"
#include "base/race_checker.h"
#include "engine/engine.h"

namespace lanyard {

namespace {

constexpr uint64_t doze_ns = 10'000'000;
constexpr uint64_t shortest_nap_ns = 20'000;
constexpr uint64_t brief_ns = 50'000;
constexpr uint64_t lookout_ns = 2'000'000;

}  // namespace

Helper::Helper(Engine &engine, int sockets, uint64_t period_ns)
    : engine_(engine), sockets_(sockets), period_ns_(period_ns), set_(epoll_create1(EPOLL_CLOEXEC)), bell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    usable_ = set_ >= 0 && bell_ >= 0 && epoll_add(set_, sockets_, EPOLLONESHOT) && epoll_add(set_, bell_, EPOLLIN);  // errno says why not
}

Helper::~Helper() {
    stop();
    if (set_ >= 0) close(set_);
    if (bell_ >= 0) close(bell_);
}

void Helper::stop() {
    if (getpid() != process_) return;  // the thread is the parent's
    if (stopped_.exchange(true)) return;
    std::lock_guard guard(starting_);  // a thread that leaves MPI may be making it just now
    if (!thread_.joinable()) return;
    ring();
    thread_.join();
}

// With all signals blocked, as they are the program's.
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
        log(LogLevel::warn, "engine", "no thread can be made: messages move only while the program is inside MPI");
        stopped_.store(true);
    }
    started_.store(true);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Helper::program_leaves(bool under_way, bool unsettled) {
    if (period_ns_) return;
    uint32_t departures = departures_.fetch_add(1, std::memory_order_seq_cst) + 1;
    if (!under_way && !unsettled) return;
    if (!started_.load(std::memory_order_relaxed)) start();
    if (under_way && !armed_.load(std::memory_order_relaxed) && expects_absence()) arm(departures);
    if (!dozing_.load(std::memory_order_seq_cst) && !dozing_.exchange(true)) ring();
}

// One with a period looks in time.
void Helper::task_posted() {
    if (period_ns_) return;
    if (!started_.load(std::memory_order_acquire)) start();
    ring();
}

void Helper::end_absence() {
    uint64_t left_ns = left_ns_.exchange(0, std::memory_order_relaxed), now_ns = clock_ns();
    if (left_ns == 0 || left_ns >= now_ns) return;  // another thread was first
    longest_absence_ns_.store(std::max(longest_absence_ns_.load(std::memory_order_relaxed), now_ns - left_ns), std::memory_order_relaxed);
}

void Helper::judge_spell() {
    bool brief = longest_absence_ns_.exchange(0, std::memory_order_relaxed) < brief_ns;
    brief_spells_.store(brief ? brief_spells_.load(std::memory_order_relaxed) + 1 : 0, std::memory_order_relaxed);
}

// Is the program, which was expected back, away for long?
bool Helper::stays_away() const {
    uint64_t left_ns = left_ns_.load(std::memory_order_relaxed);
    return !expects_absence() && left_ns && clock_ns() - left_ns >= (patient_ ? doze_ns : brief_ns);
}

void Helper::arm(uint32_t departures) {
    if (armed_.exchange(true)) return;
    armed_at_.store(departures, std::memory_order_relaxed);
    times_armed_.fetch_add(1, std::memory_order_relaxed);
    epoll_change(set_, sockets_, EPOLLIN | EPOLLONESHOT);
}

void Helper::disarm() {
    if (armed_.exchange(false)) epoll_change(set_, sockets_, EPOLLONESHOT);
}

void Helper::ring() {
    uint64_t one = 1;
    if (write(bell_, &one, sizeof one) < 0) return;  // rung already
}

// True when there is something on the sockets.
bool Helper::wait(uint64_t limit_ns) {
    epoll_event events[2];
    int count = epoll_sleep(set_, events, limit_ns);
    bool something = false;
    for (int i = 0; i < count; ++i) {
        uint64_t rings;
        if (events[i].data.fd == sockets_) something = true;
        else if (read(bell_, &rings, sizeof rings) < 0) continue;
    }
    return something;
}

void Helper::run() {
    prctl(PR_SET_TIMERSLACK, 1);  // naps are as short as they are
    uint64_t limit_ns = doze_ns, nap_ns = shortest_nap_ns;
    uint32_t seen = departures_.load() - 1;
    bool napping = false;
    while (!stopped_.load(std::memory_order_relaxed)) {
        bool something = wait(limit_ns);
        woken_.fetch_add(1, std::memory_order_relaxed);
        uint32_t departures = departures_.load(std::memory_order_seq_cst);
        bool away = departures == seen || stays_away() || (something && departures == armed_at_.load(std::memory_order_relaxed));
        away |= engine_.has_posted() || attentive();
        bool coming_and_going = something || napping;
        napping = false;
        seen = departures;
        if (engine_.someone_sleeps()) {  // and looks after the sockets
            limit_ns = rest(departures);
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
            limit_ns = expects_absence() || patient_ ? doze_ns : lookout_ns;
        }
    }
}

// Who sleeps inside MPI looks after everything itself, its timers too.
void Helper::run_by_clock() {
    while (!stopped_.load(std::memory_order_relaxed)) {
        wait(period_ns_);  // at the bell, as the sockets are not armed
        woken_.fetch_add(1, std::memory_order_relaxed);
        if (engine_.someone_sleeps() || !engine_.try_take()) continue;
        engine_.help();
        engine_.give_up();
    }
}

// Nothing is to be done before somebody leaves MPI again; until when to sleep.
uint64_t Helper::rest(uint32_t departures) {
    armed_.store(false, std::memory_order_relaxed);
    dozing_.store(false, std::memory_order_seq_cst);
    if (departures == departures_.load(std::memory_order_seq_cst) && !engine_.has_posted()) return no_limit;
    dozing_.store(true, std::memory_order_relaxed);
    return doze_ns;
}

// Owning the engine: goes on with everything as far as it goes, and gives it up; until when to sleep.
uint64_t Helper::serve(uint32_t departures) {
    armed_.store(false, std::memory_order_relaxed);
    // The absence ends here, as the program will find an engine that was not left open.
    if (left_ns_.exchange(0, std::memory_order_relaxed)) brief_spells_.store(0, std::memory_order_relaxed);
    bool all = engine_.help();
    bool left = engine_.under_way() || engine_.unsettled();
    uint64_t deadline_ns = engine_.deadline_ns();
    engine_.give_up();
    if (!all) return doze_ns;
    if (!left) return rest(departures);
    if (patient_ && !attentive()) return doze_ns;
    arm(departures);
    uint64_t now_ns = clock_ns();
    return std::min(doze_ns, deadline_ns > now_ns ? deadline_ns - now_ns : 0);
}

}  // namespace lanyard
