// A Condition states what a thread waits for. Any thread that owns the engine can evaluate the condition.
// `subject` must live as long as the wait. `met` must not block.
// Tested by: tests/unit/engine/engine_test.cc.
#pragma once

#include "engine/completion.h"

namespace lanyard {

struct Condition {
    Condition(bool (*is_met)(const void *subject), const void *what) : met(is_met), subject(what) {}
    Condition(const Completion &completion)
        : met([](const void *what) { return static_cast<const Completion *>(what)->complete(); }),
          subject(&completion) {}
    Condition(const Waiter &waiter)
        : met([](const void *what) { return static_cast<const Waiter *>(what)->done(); }), subject(&waiter) {}

    bool operator()() const { return met(subject); }

    bool (*met)(const void *subject);
    const void *subject;
};

}  // namespace lanyard
