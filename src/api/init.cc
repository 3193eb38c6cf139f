// Defines the typed functions (types.h) that start and end the world model (MPI-5.0 chapter 11): Init,
// Finalize, Abort and the queries of their state. Any thread.
// Tested by: tests/mpi/sessions/models.cc, tests/failures/test_life.py.
#include <string>
#include <thread>

#include "api/activity.h"
#include "api/generated/core.h"
#include "runtime/runtime.h"

namespace lanyard {

namespace {

// Checks that the world model has been initialised. The queries below return the thread level of
// the world model; a session reports its own thread level through MPI_Session_get_info.
Error check_world() {
    if (world_state() != WorldState::before) return {};
    return Error(
        ErrorClass::other,
        "MPI_Init has not been called; a session's level of thread support is in MPI_Session_get_info");
}

}  // namespace

extern "C" {

Error lanyard_init_thread(int *, char ***, int required, int *provided) {
    return begin_world("MPI_Init_thread", required, *provided);
}

Error lanyard_init(int *, char ***) {
    int provided;
    return begin_world("MPI_Init", abi::thread_single, provided);
}

Error lanyard_finalize() {
    if (world_state() != WorldState::active)
        return Error(ErrorClass::other, "MPI_Init has not been called, or MPI_Finalize has been already");
    return end_world();
}

Error lanyard_initialized(int *flag) {
    *flag = world_state() != WorldState::before;
    return {};
}

Error lanyard_finalized(int *flag) {
    *flag = world_state() == WorldState::finalized;
    return {};
}

// The launcher ends the whole job, not only the processes of `comm`, because the other processes could
// not continue without them.
Error lanyard_abort(Comm &comm, int errorcode) {
    Universe &universe = *comm.universe;
    std::string who = "rank " + std::to_string(runtime()->bootstrap->rank()), name = comm.name.get();
    universe.abort(universe, errorcode,
                   "Lanyard: MPI_Abort(comm=" + (name.empty() ? "unnamed" : name) + ", errorcode=" +
                       std::to_string(errorcode) + ") was called by " + who + "; the job ends",
                   true);
    return {};
}

Error lanyard_query_thread(int *provided) {
    if (Error error = check_world()) return error;
    *provided = runtime()->thread_level;
    return {};
}

Error lanyard_is_thread_main(int *flag) {
    if (Error error = check_world()) return error;
    *flag = runtime()->main_thread == std::this_thread::get_id();
    return {};
}

}  // extern "C"

}  // namespace lanyard
