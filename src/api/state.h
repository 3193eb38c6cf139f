// Whether MPI may be called now: read by every entry point of the doors, written by initialisation and finalisation.
// Any thread may read; the writers are serialised by the process object.
#pragma once

#include <atomic>

namespace lanyard {

enum class ProcessState : int {
    before,     // neither the world nor a session is initialised
    active,     // the world, or at least one session, is initialised
    timed,      // likewise, and each call is timed (timed_call.h)
    finalized,  // the world was finalised and no session is left
    forked,     // this process is a child made by fork(): MPI belongs to its parent
};

constexpr bool in_use(ProcessState state) { return state == ProcessState::active || state == ProcessState::timed; }

}  // namespace lanyard

// Of the core library, read by the doors with one load.
extern "C" [[gnu::visibility("default")]] std::atomic<lanyard::ProcessState> lanyard_process_state;
