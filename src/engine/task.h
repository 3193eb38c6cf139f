// Tasks and pollers are the work that the owner of the engine does besides polling paths. A class that has
// such work embeds a Task or a Poller and links it in (progress.h).
// Thread rule: the owner of the engine calls `run` and `poll`. They must not wait.
// Tested by: tests/unit/engine/progress_test.cc.
#pragma once

#include <cstdint>

#include "base/list.h"
#include "path/path.h"

namespace lanyard {

// Work to be done once, in the next turn: a schedule with steps that became ready, or a protocol that found
// no room.
struct Task {
    Hook hook;
    int (*run)(Task &) = nullptr;  // returns the work done; may make itself ready again
    // While the task is ready, a turn is due at this time even if nothing arrives. A task that makes itself
    // ready again in order to wait for a peer, but not for longer than that, sets it.
    uint64_t due_ns = no_deadline;
};
using Tasks = List<Task, &Task::hook>;

// Work that is polled in every turn until it is unlinked. Shared-memory collectives use it for memory that
// another process changes.
struct Poller {
    Hook hook;
    int (*poll)(Poller &, uint64_t now_ns) = nullptr;  // returns the work done; may unlink itself
};

}  // namespace lanyard
