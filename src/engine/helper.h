// The thread that advances what is under way while the program is outside MPI: it answers offers, moves bulk,
// runs schedules, restores connections.
//
// Why it costs nothing while the program is inside MPI:
// - A thread inside MPI does all this itself; nothing is handed over. The helper sleeps separately, on a
//   descriptor that holds the sockets in a one-shot set, unarmed: events on the sockets do not wake it.
// - A thread that leaves MPI with something under way (Engine::under_way) arms the set unless it is armed
//   already, which is one epoll_ctl. The next event on any socket wakes the helper once. A thread that begins
//   to wait inside MPI disarms the set.
// - A spell is the time between leaving with something under way and waiting for it. Some programs compute
//   during it. Others return at once, and for them arming costs more than it gains. After several spells in a
//   row without an absence of brief_ns, leaving no longer arms the set. The helper then checks every
//   lookout_ns whether the program stays away this time. The first longer absence is noticed that late, and
//   leaving arms the set again from then on. (Arming in vain in several spells costs less than one brief_ns.)
// - A helper that finds the program moving in and out of MPI naps and looks again; the set is not armed
//   meanwhile. It continues the work itself when the program has stayed away for a whole nap, or has not been
//   back since the set was armed, unless a thread is inside at that moment. It takes the engine like any
//   thread, for one frame at a time, and gives it up when another thread wants it.
// - Where ranks outnumber processors, a program is mostly away because other ranks run, and a helper that
//   wakes then takes the processor from them. It is therefore never armed there (be_patient). It dozes, and
//   continues the work itself when the program has been away for a whole doze.
// - While the process attends (Engine::attend), none of these heuristics applies. Every thread that leaves
//   arms the set, and the helper takes the engine as soon as something arrives, unless a thread is inside.
// - Work that only lacks an acknowledgement (Engine::unsettled) arms nothing. The helper dozes: it wakes
//   every 10 ms, and arms the set when the program has stayed away for that long. It stops dozing when a
//   thread sleeps inside MPI, or when nothing is left to do.
//
// A helper with a period works differently. It wakes at that interval in any case, and continues what is
// under way unless a thread is inside. It listens to no sockets and receives no notice from other threads;
// what arrives in between waits. (For datagrams, LANYARD_DGRAM_PROGRESS=thread.)
// Neither kind of helper calls the program's functions (Engine::helping): steps that need them wait for a
// thread inside MPI.
//
// Why nothing is overlooked: a thread that leaves first increments departures_, then reads armed_ and
// dozing_. A helper that is about to sleep without a limit first clears dozing_, then reads departures_. So
// either the helper sees the departure, or the leaving thread wakes the helper. A task posted by another
// thread rings the bell, and until it has run the helper does not sleep without a limit.
// Thread rule: any thread, unless a method says otherwise.
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
    // `sockets` is readable when the engine's paths have work. period_ns: the interval at which the helper
    // wakes; 0: it is woken by events.
    Helper(Engine &engine, int sockets, uint64_t period_ns = 0);
    ~Helper() { stop(); }
    Helper(const Helper &) = delete;
    Helper &operator=(const Helper &) = delete;

    // Before any thread leaves MPI: processors are scarce.
    void be_patient() { patient_ = true; }
    // False if the system gives no descriptors for it.
    bool usable() const { return bell_.usable(); }
    bool armed() const { return armed_.load(std::memory_order_relaxed); }
    // Does the helper need to learn when the program leaves?
    bool listens() const { return armed() || dozing_.load(std::memory_order_relaxed); }
    // Is the set armed for a thread that leaves with something under way, or is the program expected back at
    // once?
    bool expects_absence() const {
        if (attentive()) return true;
        return !period_ns_ && !patient_ && absences_.are_long();
    }
    // [owner of the engine] on: from now on, every absence of the program is expected to be long. off: no
    // longer.
    void pay_attention(bool on) { attentive_.store(on, std::memory_order_relaxed); }
    // Any thread: the engine has a task that another thread has posted.
    void task_posted();
    // By a thread that owns the engine: begin_absence(), when a thread of the program is about to give the
    // engine up with something under way; program_enters(), when one has taken it again.
    void begin_absence() { absences_.begin(); }
    void program_enters() { absences_.end(); }
    // A thread of the program has given up the engine.
    void program_leaves(bool under_way, bool unsettled);
    // A thread of the program begins to wait. It polls the sockets itself.
    void program_waits() {
        absences_.end_spell();
        if (armed_.load(std::memory_order_relaxed)) disarm();
    }
    // What was under way when the program left is over, or a thread waits for it.
    void end_spell() { absences_.end_spell(); }
    // Starts the thread. A helper without a period does this itself when it is first needed.
    void start();
    // Ends the thread. The helper does nothing afterwards.
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
    std::atomic<uint32_t> armed_at_{0};  // value of departures_ at that time
    std::atomic<bool> armed_{false}, dozing_{false}, stopped_{false}, started_{false}, attentive_{false};
    std::atomic<uint64_t> woken_{0}, times_armed_{0};
    std::mutex starting_;
    std::thread thread_;
    CounterSource counted_{helper_counters(), *this};
};

}  // namespace lanyard
