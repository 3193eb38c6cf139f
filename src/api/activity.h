// Keeps track of the users of MPI in this process: the world model, at most once, and any number of sessions
// before, beside and after it (MPI-5.0 chapter 11). The first user creates the runtime. Of all
// initialisations, only this first one synchronises with the other processes. When the last user ends, the
// runtime is paused; a later user resumes it. MPI_Init, MPI_Finalize and their counterparts for sessions call
// the functions declared here, on any thread. A lock serialises the calls.
//
// When does a process leave its network? MPI_Finalize synchronises with all other processes once the messages
// of all have arrived. The end of a session cannot synchronise, because some processes may still use their
// sessions and others may have none. Connections therefore stay open until the process exits. A process that
// has had a session since the last synchronisation of all processes synchronises with the others once more at
// exit. Processes that have ended already are counted as having entered that synchronisation
// (launch/pmi_server.h).
// Tested by: tests/mpi/sessions/models.cc, tests/failures/test_life.py, tests/launch/test_sessions.py.
#pragma once

#include <initializer_list>

#include "base/abi_constants.h"
#include "base/error.h"

namespace lanyard {

// The lowest thread level that includes the requested one. `required` comes from the program and
// may be no valid level.
inline int granted_level(int required) {
    for (int level : {abi::thread_single, abi::thread_funneled, abi::thread_serialized})
        if (required <= level) return level;
    return abi::thread_multiple;
}

// `call`: the name of the MPI function, for error messages and for the launcher's report of what its ranks
// wait for.
Error begin_world(const char *call, int required, int &provided);
// Ends the world model. First deletes the attributes of MPI_COMM_SELF and MPI_COMM_WORLD, because their
// delete functions may still use MPI. If one of these functions fails, the world model stays active.
Error end_world();
Error begin_session();
// Reports that from now on threads of a tool may call MPI beside the program's threads.
void expect_tool_threads();
// Ends a session. The program must not communicate on objects of the session afterwards. If the session
// is the last user of MPI, waits until everything sent has left this process. After an error, the session
// still counts as a user of MPI.
Error end_session();

enum class WorldState { before, active, finalized };
WorldState world_state();

// Returns how this process was started and which thread level it was granted, for MPI_INFO_ENV and
// MPI_Info_create_env.
struct Startup startup_facts();

}  // namespace lanyard
