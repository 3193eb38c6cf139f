// What the owner of the engine does besides polling paths. A part that has work to do embeds one of these and
// links it in (progress.h).
#pragma once

#include <cstdint>

#include "base/list.h"

namespace lanyard {

// Work to be done once, in the next turn: a schedule with steps that became ready, or a protocol that found
// no room.
struct Task {
    Hook hook;
    int (*run)(Task &) = nullptr;  // returns the work done; may make itself ready again
};
using Tasks = List<Task, &Task::hook>;

// Polled in every turn until unlinked: memory that another process changes (shared-memory collectives).
struct Poller {
    Hook hook;
    int (*poll)(Poller &, uint64_t now_ns) = nullptr;  // returns the work done; may unlink itself
};

}  // namespace lanyard
