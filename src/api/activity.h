// The users of MPI in this process: the world model, at most once, and any number of sessions before, beside
// and after it (MPI-5.0 chapter 11). The first user creates the runtime, and only this step synchronises with
// the other processes. The first user after a pause resumes the runtime, and the last one pauses it.
// MPI_Init, MPI_Finalize and their counterparts for sessions call these functions, on any thread. A lock
// serialises the calls.
//
// When does a process leave its network? MPI_Finalize synchronises with all other processes once the messages
// of all have arrived. A session cannot do this, because other processes may still be in theirs or in none.
// Connections therefore stay open until the process exits. A process that has used them since the last
// synchronisation of all processes synchronises with the others once more at exit. Processes that have ended
// count as entered (launch/pmi_server.h).
#pragma once

#include <initializer_list>

#include "base/abi_constants.h"
#include "base/error.h"

namespace lanyard {

// The lowest thread level that includes what the program requests, which may be no valid level.
inline int granted_level(int required) {
    for (int level : {abi::thread_single, abi::thread_funneled, abi::thread_serialized})
        if (required <= level) return level;
    return abi::thread_multiple;
}

// `call`: the name of the MPI function, for error messages and for the launcher's report of what its ranks
// wait for.
Error begin_world(const char *call, int required, int &provided);
// First deletes the attributes of MPI_COMM_SELF, because their functions may still use MPI.
Error end_world();
Error begin_session();
// From now on, threads of a tool may call beside the program's threads.
void expect_tool_threads();
// No communication on the session's objects may follow. If the session is the last user of MPI, the call
// waits until everything sent has left this process.
Error end_session();

enum class WorldState { before, active, finalized };
WorldState world_state();

// How this process was started and which thread level it was granted, for MPI_INFO_ENV and
// MPI_Info_create_env.
struct Startup startup_facts();

}  // namespace lanyard
