// How a real process waits (rule 4): with a processor for each rank it spins for about the price of a wake-up and then sleeps;
// where ranks outnumber processors it yields a few times and then sleeps. It sleeps on its word in the node's segment, which
// peers wake, or without one (a process alone) on a word of its own.
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/idle.h"

namespace lanyard {

class ShmPath;
struct WaitRecord;

struct IdlePolicy {
    uint64_t spin_ns;  // before the first sleep
    uint32_t yields;   // instead of spinning, where ranks outnumber processors
    bool crowded;      // they do
};

// For `ranks` on this node and `processors` granted to it; spin_us < 0 chooses.
IdlePolicy choose_idle_policy(int ranks, int processors, int64_t spin_us);

class ProcessIdle final : public Idle {
public:
    // `record`, if any, is told since when the process is idle.
    ProcessIdle(const IdlePolicy &policy, ShmPath *shm, WaitRecord *record = nullptr) : policy_(policy), shm_(shm), record_(record) {}

    Action next(uint32_t idle_turns, uint64_t idle_since_ns, uint64_t now_ns) override;
    void yield() override;
    void arm() override;
    void sleep(uint64_t deadline_ns) override;
    void disarm() override;
    void wake() override;

private:
    IdlePolicy policy_;
    ShmPath *shm_;
    WaitRecord *record_;
    std::atomic<uint32_t> asleep_{0};
};

}  // namespace lanyard
