// The profile shows how a job spends its time in MPI (LANYARD_PROFILE=on, mpirun --profile). Each process
// counts. At MPI_Finalize rank 0 prints a table and writes lanyard-profile-<job>.json with the counts of
// every rank (docs/profile.md). Without a profile nothing is counted, except calls if the program is built
// with the thread sanitizer (base/race_checker.h).
//
// Three things are counted. Calls are timed by the ABI front ends (api/timed_call.h). Waits, in which a call
// polls or sleeps, are counted by their reason (Waiting, runtime/waiting.h). Messages are counted by the
// messenger (p2p/traffic.h), including messages of which collectives consist.
// Thread rule: any thread counts calls and waits, and the engine's owner counts messages.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "p2p/traffic.h"

namespace lanyard {

// The time of all calls of one name so far.
struct CallTimes {
    std::string name;
    // The number of calls and their time, in the unit of clock_ticks(). This clock is used because it is the
    // fastest to read: reading the clock is the largest cost of a profile.
    std::atomic<uint64_t> calls{0}, ticks{0};
    std::atomic<uint64_t> waiting_ns{0};       // the part of that time for which the calls waited
};

namespace timing {
#pragma GCC visibility push(default)
// The times of all calls with this name, whichever front end they use. The entry exists until exit.
[[gnu::cold]] CallTimes &times_of_call(const char *name);
// True if this thread is in no call that is timed.
[[gnu::cold]] bool outside_timed_call();

// While a TimedCall exists, its thread is in a call that is being timed.
class TimedCall {
public:
    [[gnu::cold]] explicit TimedCall(CallTimes &times);
    [[gnu::cold]] ~TimedCall();
    TimedCall(const TimedCall &) = delete;
    TimedCall &operator=(const TimedCall &) = delete;

private:
    CallTimes &times_;
    uint64_t began_ticks_;
};
#pragma GCC visibility pop
}  // namespace timing

namespace tool {

// What a call waits for: a message that has not been sent (a late sender), a receive that has not been posted
// (a late receiver), or ranks that have not arrived in a collective.
enum class WaitFor : uint8_t { message, receiver, ranks, count_of_them };

class Profile {
public:
    Profile();
    Profile(const Profile &) = delete;
    Profile &operator=(const Profile &) = delete;

    // Counts a wait of this thread, in the call that is being timed, if any. It lasted `ns`. During
    // `moving_ns` of this time, data of long messages was under way.
    void count_wait(WaitFor what, uint64_t ns, uint64_t moving_ns);
    uint64_t moved_ns() const { return traffic_.moved_ns(); }
    // The counts of the messenger.
    Traffic &traffic() { return traffic_; }
    // All counts so far, as text.
    std::string counted(int rank) const;

private:
    struct Wait {
        std::atomic<uint64_t> ns{0}, moving_ns{0};
    };
    Traffic traffic_;
    Wait waits_[static_cast<size_t>(WaitFor::count_of_them)];
    uint64_t began_ns_, began_ticks_;
};

// Prints the table for a job and writes its file. `texts` are the counts of all ranks, in rank order. Called
// by rank 0.
void report(const std::vector<std::string> &texts, const std::string &job);

}  // namespace tool
}  // namespace lanyard
