// Describes the counters.
#include "path/shm/counters.h"

#include "path/shm/shm_path.h"

namespace lanyard {

Counters<ShmPath> &shm_counters() {
    using enum CounterClass;
    using enum Audience;
    static auto &only = *new Counters<ShmPath>("shm", {
        {"shm_rings", level, expert, "rings", "rings of other processes that this process polls",
         [](const ShmPath &path) { return path.inlets().count(); }},
        {"shm_cells_used", level, expert, "cells",
         "cells of this process whose content has not been read yet",
         [](const ShmPath &path) { return path.cells().in_use(); }},
        {"shm_cells", size, expert, "cells", "cells that this process has, each for 16 KiB of payload",
         [](const ShmPath &path) { return path.segment().header().cells; }},
        {"shm_segment_bytes", level, user, "bytes",
         "bytes of the node's shared memory that the job's processes use",
         [](const ShmPath &path) { return path.segment().used_bytes(); }},
    });
    return only;
}

}  // namespace lanyard
