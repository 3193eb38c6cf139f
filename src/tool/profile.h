// How a job spends its time in MPI (LANYARD_PROFILE=on, mpirun --profile). Each process counts. At
// MPI_Finalize rank 0 prints a table and writes lanyard-profile-<job>.json with the counts of every rank
// (docs/profile.md). Without a profile nothing is counted.
//
// Calls: the ABI front ends time them (api/timed_call.h). Waits: those in which a call polls or sleeps
// (Waiting, runtime/waiting.h), by their reason. Messages: the messenger counts them (p2p/traffic.h),
// including those of collectives that travel as messages.
// Thread rule: calls and waits by any thread, the rest by the engine's owner.
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
    // clock_ticks(), because reading the clock is a profile's largest cost.
    std::atomic<uint64_t> calls{0}, ticks{0};
    std::atomic<uint64_t> waiting_ns{0};       // part of these
};

namespace timing {
#pragma GCC visibility push(default)
// The entry with this name, which all front ends share. It lives until exit.
[[gnu::cold]] CallTimes &times_of_call(const char *name);
// True if this thread is in no call that is timed.
[[gnu::cold]] bool outside_timed_call();

// While it exists, this thread is in that call.
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

// The reason of a wait: a message that has not been sent (a late sender), a receive that has not been posted,
// or a collective (ranks that have not arrived).
enum class WaitFor : uint8_t { message, receiver, ranks, count_of_them };

class Profile {
public:
    Profile();
    Profile(const Profile &) = delete;
    Profile &operator=(const Profile &) = delete;

    // A call of this thread has waited this long. During `moving_ns` of it, data of long messages was under
    // way.
    void count_wait(WaitFor what, uint64_t ns, uint64_t moving_ns);
    uint64_t moved_ns() const { return traffic_.moved_ns(); }
    // The messenger counts here.
    Traffic &traffic() { return traffic_; }
    // What has been counted until now, as text.
    std::string counted(int rank) const;

private:
    struct Wait {
        std::atomic<uint64_t> ns{0}, moving_ns{0};
    };
    Traffic traffic_;
    Wait waits_[static_cast<size_t>(WaitFor::count_of_them)];
    uint64_t began_ns_, began_ticks_;
};

// Prints the table of the counts of all ranks of a job, in rank order, and writes its file. For rank 0.
void report(const std::vector<std::string> &texts, const std::string &job);

}  // namespace tool
}  // namespace lanyard
