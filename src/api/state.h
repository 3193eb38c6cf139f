// The process state shows whether MPI may be called now. Every entry point reads this state, except those
// that may be called at any time. Initialisation and finalisation write it, under the lock of activity.cc,
// and so does the child of a fork(), without the lock. Any thread may read.
// Tested by: tests/failures/test_life.py, tests/mpi/sessions/models.cc, tests/api/door_test.cc.
#pragma once

#include <atomic>

namespace lanyard {

enum class ProcessState : int {
    before,     // neither the world model nor a session is initialised
    active,     // the world model or at least one session is initialised
    timed,      // as `active`, and each call is timed (timed_call.h)
    finalized,  // the world model was finalised and no session is left
    forked,     // this process was created by fork(): MPI belongs to its parent
};

constexpr bool in_use(ProcessState state) {
    return state == ProcessState::active || state == ProcessState::timed;
}

}  // namespace lanyard

// Defined in the core library. The front ends read it with one load.
extern "C" [[gnu::visibility("default")]] std::atomic<lanyard::ProcessState> lanyard_process_state;
