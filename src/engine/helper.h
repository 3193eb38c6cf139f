// Goes on with what is under way while the program is outside MPI: answers offers, moves bulk, runs schedules, connects again.
//
// How it costs nothing while the program is inside
// - A thread inside MPI does all that itself; nothing is handed over. The helper sleeps apart from it, on a descriptor that holds the
//   sockets in a one-shot set, unarmed: events on the sockets do not wake it.
// - A thread that leaves MPI with something under way (Engine::under_way) arms the set, unless it is armed still: one epoll_ctl. The next
//   event on any socket wakes the helper, once. A thread that begins to wait inside MPI disarms it.
// - Between leaving with something under way and waiting for it some programs compute, others come back at once, which arming costs more
//   than it gives. After several such spells running without an absence of brief_ns nobody arms. The helper looks every lookout_ns whether
//   the program stays away this time; the first longer absence is noticed so late, those that follow are armed for again. (Several spells
//   that are armed for in vain cost less than one brief_ns.)
// - A helper that finds the program coming and going naps and looks again; meanwhile nobody arms. It goes on itself once the program has
//   stayed away for a whole nap, or has not been back since it armed, unless it is inside just now. It takes the engine like any thread,
//   one frame at a time, and gives it up when somebody wants it.
// - Where ranks outnumber processors a program is away mostly because others run, and a helper that comes then takes the processor from them. So it
//   is never armed there (be_patient): it dozes, and goes on itself when the program has been away for all of that.
// - While the process attends (Engine::attend) none of these heuristics counts: whoever leaves arms the set, and the helper takes the engine as soon
//   as something comes, unless somebody is inside.
// - What only has not been acknowledged yet (Engine::unsettled) arms nothing. The helper dozes then: it wakes every 10 ms, and arms the
//   set when the program has stayed away for so long. It stops dozing when a thread sleeps inside MPI, or nothing is left to do.
//
// A helper with a period is another thing: it wakes as often as that says, whatever happens, and goes on with what there is unless somebody is
// inside. It listens to nothing, and nobody tells it anything; what comes in between waits. (For datagrams, LANYARD_DGRAM_PROGRESS=thread.)
// Either never calls the program's functions (Engine::helping): steps that would wait for a thread inside MPI.
//
// Why nothing is overlooked: who leaves first counts departures_, then reads armed_ and dozing_; the helper that is about to sleep
// without a limit first clears dozing_, then reads departures_. So either it sees that somebody left, or is woken by who leaves. A task posted
// from another thread rings the bell, and while it has not run the helper does not sleep without a limit.
// Thread rule: any thread.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>

#include "engine/absences.h"
#include "engine/counters.h"
#include "engine/socket_bell.h"

namespace lanyard {

class Engine;

class Helper {
public:
    // `sockets` is readable when the engine's paths have work. period_ns: how often it wakes, instead; 0: it is woken.
    Helper(Engine &engine, int sockets, uint64_t period_ns = 0);
    ~Helper() { stop(); }
    Helper(const Helper &) = delete;
    Helper &operator=(const Helper &) = delete;

    // Before anybody leaves: processors are scarce.
    void be_patient() { patient_ = true; }
    // False when the system gives no descriptors for it.
    bool usable() const { return bell_.usable(); }
    bool armed() const { return armed_.load(std::memory_order_relaxed); }
    // Does it care whether the program comes and goes?
    bool listens() const { return armed() || dozing_.load(std::memory_order_relaxed); }
    // Will it be armed for a thread that leaves with something under way, rather than count on its coming back at once?
    bool expects_absence() const {
        if (attentive()) return true;
        return !period_ns_ && !patient_ && absences_.are_long();
    }
    // [owner of the engine] From now on, or no more: whoever leaves is expected to stay away.
    void pay_attention(bool on) { attentive_.store(on, std::memory_order_relaxed); }
    // Any thread: the engine has a task that another thread has posted.
    void task_posted();
    // A thread of the program is about to give up the engine with something under way, and has taken it again. The engine is owned.
    void begin_absence() { absences_.begin(); }
    void program_enters() { absences_.end(); }
    // A thread of the program has given up the engine.
    void program_leaves(bool under_way, bool unsettled);
    // A thread of the program begins to wait: it looks after the sockets itself.
    void program_waits() {
        absences_.end_spell();
        if (armed_.load(std::memory_order_relaxed)) disarm();
    }
    // What was under way when the program left is over, or a thread waits for it.
    void end_spell() { absences_.end_spell(); }
    // Makes the thread. One that is woken makes it itself when it is needed first.
    void start();
    // Ends the thread; the helper does nothing more.
    void stop();
    bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

    // Since the start.
    uint64_t times_woken() const { return woken_.load(std::memory_order_relaxed); }
    uint64_t times_armed() const { return times_armed_.load(std::memory_order_relaxed); }

private:
    bool attentive() const { return attentive_.load(std::memory_order_relaxed) && !period_ns_; }
    bool stays_away() const;
    void run();
    void run_by_clock();
    uint64_t serve(uint32_t departures);
    uint64_t pause(uint32_t departures);
    void arm(uint32_t departures);
    void disarm();

    Engine &engine_;
    SocketBell bell_;
    Absences absences_;
    const uint64_t period_ns_;
    const int process_ = getpid();
    bool patient_ = false;
    std::atomic<uint32_t> departures_{0};
    std::atomic<uint32_t> armed_at_{0};  // departures then
    std::atomic<bool> armed_{false}, dozing_{false}, stopped_{false}, started_{false}, attentive_{false};
    std::atomic<uint64_t> woken_{0}, times_armed_{0};
    std::mutex starting_;
    std::thread thread_;
    CounterSource counted_{helper_counters(), *this};
};

}  // namespace lanyard
