// Where a runtime waits when it has nothing to do. Two kinds: the policy of rule 4 for real processes (spin, yield,
// sleep; wait.h) and the simulator's, which hands over to the other ranks of the test in virtual time.
#pragma once

#include <cstdint>

namespace lanyard {

class Idle {
public:
    virtual ~Idle() = default;
    // Called after the `idle_turns`-th step in a row that did nothing (1 is the first). Without the engine owned.
    // Returns when it makes sense to step again; sleeps at most until deadline_ns.
    virtual void pause(uint32_t idle_turns, uint64_t deadline_ns) = 0;
    // A test that found nothing: gives the processor away where ranks outnumber processors.
    virtual void yield() = 0;
    // Wakes a thread of this runtime that sleeps in pause(), because another thread of it did something.
    virtual void wake() = 0;
};

}  // namespace lanyard
