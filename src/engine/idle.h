// An Idle decides what a runtime does when a step found nothing: spin, yield the processor, or sleep. The
// Idle also yields and sleeps. ProcessIdle (process_idle.h) is for real processes. Tests have others: that of
// the simulator lets the other ranks of the test run, in virtual time.
// Thread rule: next(), arm() and quieten() by the owner of the engine; yield() and sleep() by a thread
// that waits and has given up the engine; disarm() by a thread that waits; wake() and now_ns() by any thread
// of the runtime.
// Tested by: tests/unit/engine/engine_test.cc.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace lanyard {

class Idle {
public:
    enum class Action { spin, yield, sleep };

    virtual ~Idle() = default;
    // What to do after the `idle_turns`-th step in a row that did nothing (1 is the first). The series began
    // at idle_since_ns.
    virtual Action next(uint32_t idle_turns, uint64_t idle_since_ns, uint64_t now_ns) = 0;
    virtual void yield() = 0;
    virtual uint64_t now_ns() { return clock_ns(); }

    // How a thread sleeps: arm() announces the sleep to every process that may publish something, then the
    // caller makes one more step, then it calls sleep(). sleep() returns at once if anything was published
    // since arm(); otherwise it returns when something is published, when wake() is called, or at the
    // deadline. It may also return without a reason. disarm() ends the announcement.
    virtual void arm() = 0;
    virtual void sleep(uint64_t deadline_ns) = 0;
    virtual void disarm() = 0;
    // Clears a pending wake-up. Code other than sleep() must call this before it looks for the reason of the
    // wake-up.
    virtual void quieten() {}
    // Wakes the sleeping thread. Called by another thread of the same runtime.
    virtual void wake() = 0;
};

}  // namespace lanyard
