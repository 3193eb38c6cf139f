// What a job spends in MPI (LANYARD_PROFILE=on, mpirun --profile): each process counts, and at MPI_Finalize rank 0 prints a table and
// writes lanyard-profile-<job>.json with what every rank counted (docs/profile.md). Without it nothing is counted.
// Calls: the doors time them (api/timed_call.h). Waits: those in which a call polls or sleeps (Waiting, runtime/runtime.h), by what they are
// for. Messages: the messenger counts them (p2p/traffic.h), with those of collectives that travel as messages.
// Thread rule: calls and waits from any thread; the rest by the engine's owner.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "p2p/traffic.h"

namespace lanyard {

// What calls of one name took so far, together.
struct CallTimes {
    std::string name;
    std::atomic<uint64_t> calls{0}, ticks{0};  // clock_ticks(), as reading them is what a profile costs most
    std::atomic<uint64_t> waiting_ns{0};       // of these
};

namespace timing {
#pragma GCC visibility push(default)
// The one of this name, in which all doors agree. Lives until exit.
[[gnu::cold]] CallTimes &times_of_call(const char *name);
// Is this thread in no call that is timed?
[[gnu::cold]] bool outside_timed_call();

// While it exists this thread is in that call.
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

// What a wait is for: a message that has not been sent (a late sender), a receive that has not been posted, or a collective (ranks that
// are not there yet).
enum class WaitFor : uint8_t { message, receiver, ranks, count_of_them };

class Profile {
public:
    Profile();
    Profile(const Profile &) = delete;
    Profile &operator=(const Profile &) = delete;

    // A call of this thread has waited so long; for the part `moving_ns` of it the data of long messages was on its way.
    void count_wait(WaitFor what, uint64_t ns, uint64_t moving_ns);
    uint64_t moved_ns() const { return traffic_.moved_ns(); }
    // Where the messenger counts.
    Traffic &traffic() { return traffic_; }
    // What was counted until now, as text.
    std::string counted(int rank) const;

private:
    struct Wait {
        std::atomic<uint64_t> ns{0}, moving_ns{0};
    };
    Traffic traffic_;
    Wait waits_[static_cast<size_t>(WaitFor::count_of_them)];
    uint64_t began_ns_, began_ticks_;
};

// Prints the table of what all ranks of a job have counted, in their order, and writes its file. For rank 0.
void report(const std::vector<std::string> &texts, const std::string &job);

}  // namespace tool
}  // namespace lanyard
