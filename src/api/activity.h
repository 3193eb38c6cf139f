// Who uses MPI in this process: the world model, once, and any number of sessions, before, beside and after it (MPI-5.0 chapter 11).
// The first user makes the runtime, and is the only one that meets the other processes for that; the first after a pause wakes it;
// the last one puts it to rest. Called by MPI_Init, MPI_Finalize and the same of sessions; any thread, one after the other.
//
// When does a process leave its network? MPI_Finalize meets all other processes, once everybody's messages have arrived. A session
// cannot: others may still be in theirs, or in none. So connections stay open until the process exits, and who has used them since the
// last meeting of all meets the others once more at exit. Those that are over already count as come (launch/pmi_server.h).
#pragma once

#include <initializer_list>

#include "base/abi_constants.h"
#include "base/error.h"

namespace lanyard {

// `call`: the function of MPI, for reports and the launcher's view of what its ranks wait for.
// The least level of threads that holds what the program asks for, which may be no level at all.
inline int granted_level(int required) {
    for (int level : {abi::thread_single, abi::thread_funneled, abi::thread_serialized})
        if (required <= level) return level;
    return abi::thread_multiple;
}

Error begin_world(const char *call, int required, int &provided);
// Deletes the attributes of MPI_COMM_SELF first, whose functions may still use MPI.
Error end_world();
Error begin_session();
// From now on threads of a tool may call beside the program's.
void expect_tool_threads();
// The session's objects communicate no more. Waits, where it is the last user, until all that was sent has left this process.
Error end_session();

enum class WorldState { before, active, finalized };
WorldState world_state();

// How this process was started, and what it was granted: MPI_INFO_ENV and MPI_Info_create_env.
struct Startup startup_facts();

}  // namespace lanyard
