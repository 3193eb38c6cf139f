// What a runtime does when a step found nothing: spin, give the processor away, or sleep. Two kinds: the policy for real
// processes (process_idle.h) and the simulator's, which hands over to the other ranks of the test in virtual time.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace lanyard {

class Idle {
public:
    enum class Action { spin, yield, sleep };

    virtual ~Idle() = default;
    // What to do after the `idle_turns`-th step in a row that did nothing (1 is the first), which began at idle_since_ns.
    virtual Action next(uint32_t idle_turns, uint64_t idle_since_ns, uint64_t now_ns) = 0;
    virtual void yield() = 0;
    virtual uint64_t now_ns() { return clock_ns(); }

    // Sleeping: arm() declares the intention to every process that may publish something; the caller steps once more; sleep()
    // returns at once if anything was published since arm(), else when it is, when wake() is called, or at the deadline.
    virtual void arm() = 0;
    virtual void sleep(uint64_t deadline_ns) = 0;
    virtual void disarm() = 0;
    // Forgets having been woken, before somebody else than sleep() looks for the reason.
    virtual void quieten() {}
    // From another thread of the same runtime.
    virtual void wake() = 0;
};

}  // namespace lanyard
