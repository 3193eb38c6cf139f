// The helper is a thread that advances what is under way while the program is outside MPI. It answers offers,
// moves bulk, runs schedules, and restores connections.
//
// Why the helper costs nothing while the program is inside MPI:
// - A thread inside MPI does all this itself; nothing is handed over. The helper sleeps separately, on an
//   epoll set that contains the sockets as a one-shot entry. While this set is not armed, events on the
//   sockets do not wake the helper.
// - A thread that leaves MPI with something under way (Engine::under_way) arms the set unless it is armed
//   already. Arming is one epoll_ctl. The next event on any socket wakes the helper once. A thread that
//   begins to wait inside MPI disarms the set.
// - A spell lasts from leaving MPI with something under way until the program waits for what is under way.
//   Some programs compute during a spell. Others return at once, and for them arming costs more than it
//   gains. After several spells in a row without an absence as long as brief_ns (absences.h), leaving no
//   longer arms the set. The helper then checks every lookout_ns whether the program stays away this time.
//   The first longer absence is therefore noticed up to lookout_ns late. From then on, leaving arms the set
//   again. (Arming in vain in those several spells costs less than brief_ns in all.)
// - A helper that finds the program moving in and out of MPI sleeps for a short time (a nap) and looks again;
//   the set is not armed meanwhile. The helper continues the work itself if the program has stayed away for a
//   whole nap, or if the program has not been back since the set was armed. It does not do so while a thread
//   is inside MPI. The helper takes the engine like any thread, handles one frame at a time, and gives the
//   engine up when another thread wants it.
// - Where ranks outnumber processors, a program is mostly away because other ranks run, and a helper that
//   wakes would take the processor from these ranks. The set is therefore not armed there (prefer_dozing).
//   The helper dozes (sleeps for 10 ms at a time), and continues the work itself when the program has been
//   away for a whole doze.
// - While the process holds attention (Engine::attend), none of these heuristics applies. Every thread that
//   leaves MPI arms the set, and the helper takes the engine as soon as something arrives, unless a thread is
//   inside MPI.
// - Work that only lacks an acknowledgement (Engine::has_unacknowledged) arms nothing. The helper dozes
//   instead, and arms the set when the program has stayed away for a whole doze. It stops dozing when a
//   thread sleeps inside MPI, or when nothing is left to do.
//
// A helper with a period works differently. It wakes at that interval in any case, and continues what is
// under way unless a thread is inside MPI. It listens to no sockets and receives no notice from other
// threads; what arrives in between waits until the helper next wakes. (Used for datagrams with
// LANYARD_DGRAM_PROGRESS=thread.)
// Neither kind of helper calls the program's functions (Engine::helping). Steps that need these functions
// wait for a thread of the program inside MPI.
//
// Why nothing is overlooked: a thread that leaves MPI increments departures_ and then reads armed_ and
// dozing_. A helper that is about to sleep without a limit clears dozing_ and then reads departures_. So
// either the helper sees the departure, or the leaving thread wakes the helper. A thread that posts a task
// rings the bell, and the helper does not sleep without a limit until the task has run.
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
    // `sockets`: a descriptor that is readable when the engine's paths have work. The caller owns the
    // descriptor and keeps it open while the helper lives. The engine must outlive the helper. period_ns: the
    // interval at which the helper wakes; 0: events wake the helper. The constructor creates no thread.
    Helper(Engine &engine, int sockets, uint64_t period_ns = 0);
    ~Helper() { stop(); }
    Helper(const Helper &) = delete;
    Helper &operator=(const Helper &) = delete;

    // States that ranks outnumber processors, so that the helper dozes instead of arming the set. Must be
    // called before any thread leaves MPI.
    void prefer_dozing() { prefers_dozing_ = true; }
    // Returns false if the system gave the constructor no descriptors; errno has the reason right after the
    // constructor. Such a helper must not be used.
    bool usable() const { return bell_.usable(); }
    bool armed() const { return armed_.load(std::memory_order_relaxed); }
    // Must program_leaves() be called even if nothing is under way or unacknowledged?
    bool listens() const { return armed() || dozing_.load(std::memory_order_relaxed); }
    // Should a thread that leaves MPI with something under way arm the set? Always false for a helper with a
    // period. Otherwise true while the process holds attention. Without attention, false if the program is
    // expected back at once, or if ranks outnumber processors.
    bool expects_absence() const {
        if (attentive()) return true;
        return !period_ns_ && !prefers_dozing_ && absences_.are_long();
    }
    // [owner of the engine] true: from now on, every absence of the program is expected to be long. false:
    // absences are judged by their past length again.
    void pay_attention(bool on) { attentive_.store(on, std::memory_order_relaxed); }
    // Called by any thread after it has posted a task to the engine. Wakes a helper without a period.
    void task_posted();
    // Called by a thread of the program that owns the engine. begin_absence(): the thread is about to give
    // the engine up with something under way. program_enters(): the thread has taken the engine.
    void begin_absence() { absences_.begin(); }
    void program_enters() { absences_.end(); }
    // Called by a thread of the program that has given up the engine. May start the helper's thread.
    void program_leaves(bool under_way, bool unacknowledged);
    // [owner of the engine] Called when a thread of the program begins to wait. This thread polls the sockets
    // itself.
    void program_waits() {
        absences_.end_spell();
        if (armed_.load(std::memory_order_relaxed)) disarm();
    }
    // [owner of the engine] Called when nothing is under way any more.
    void end_spell() { absences_.end_spell(); }
    // Starts the helper's thread, unless it has been started already. A helper without a period starts its
    // thread itself when the thread is first needed. If the system provides no thread, start() logs this, and
    // the helper counts as stopped.
    void start();
    // Ends the thread and waits for its end. The helper does nothing afterwards. In a child of fork(), which
    // has no such thread, stop() does nothing.
    void stop();
    bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

    // Totals since the start.
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
    bool prefers_dozing_ = false;
    std::atomic<uint32_t> departures_{0};
    std::atomic<uint32_t> armed_at_{0};  // value of departures_ when the set was last armed
    std::atomic<bool> armed_{false}, dozing_{false}, stopped_{false}, started_{false}, attentive_{false};
    std::atomic<uint64_t> woken_{0}, times_armed_{0};
    std::mutex starting_;
    std::thread thread_;
    CounterSource counted_{helper_counters(), *this};
};

}  // namespace lanyard
