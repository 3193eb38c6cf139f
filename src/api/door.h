// A Door represents an ABI front end: a shared object with the MPI_ functions of one ABI. The program passes
// functions of its own (for example, error handlers) through a front end. The core calls each of them only
// through that same front end, because only that front end knows the handles of its ABI. Every front end
// defines one constant Door. The core stores each function of the program together with the Door through
// which it was passed (Callback in types.h). The calls happen on a thread that is inside MPI, never on the
// helper thread. Each function below that returns an int returns the error code that the program's function
// has returned, translated to the library's codes.
// Tested by: tests/mpich_abi/crossing.cc, tests/third_abi/program.cc.
#pragma once

#include <cstdint>

#include "api/types.h"

namespace lanyard {

using Function = void (*)();

struct Door {
    // Texts for error messages: the file name ("libmpi_abi.so.1"); the ABI ("the MPI-5.0 standard's
    // ABI"); and, for a program that passes handles of another ABI, how the program was probably compiled and
    // what the user should do.
    const char *library, *abi, *other_header, *advice;
    bool of_the_standard;  // the front end's ABI is that of MPI-5.0

    // inout[i] = in[i] op inout[i]. A function that takes an int count is called several times if
    // `count` is larger.
    void (*call_op)(Function, bool large_count, const void *in, void *inout, int64_t count, Datatype *);

    // Functions that copy and delete attributes. The Function is never one of the ABI's constants.
    int (*copy_comm_attribute)(Function, Comm *, int keyval, void *extra_state, void *value, void *copy,
                               int *flag);
    int (*delete_comm_attribute)(Function, Comm *, int keyval, void *value, void *extra_state);
    int (*copy_type_attribute)(Function, Datatype *, int keyval, void *extra_state, void *value, void *copy,
                               int *flag);
    int (*delete_type_attribute)(Function, Datatype *, int keyval, void *value, void *extra_state);
    int (*copy_win_attribute)(Function, Win *, int keyval, void *extra_state, void *value, void *copy,
                              int *flag);
    int (*delete_win_attribute)(Function, Win *, int keyval, void *value, void *extra_state);

    // Error handlers created by the program. They may change the code.
    void (*comm_error)(Function, Comm *, int *code);
    void (*session_error)(Function, Session *, int *code);
    void (*win_error)(Function, Win *, int *code);
    void (*file_error)(Function, File *, int *code);

    // Functions of generalised requests.
    int (*query_request)(Function, void *extra_state, Status *);
    int (*free_request)(Function, void *extra_state);
    int (*cancel_request)(Function, void *extra_state, int complete);

    // Data representations of files.
    int (*datarep_extent)(Function, Datatype *, int64_t *extent, void *extra_state);
    int (*datarep_convert)(Function, bool large_count, void *user, Datatype *, int64_t count, void *file,
                           int64_t position, void *extra_state);

    // Events of the tool information interface. `safety` is an abi::t_cb_ value.
    void (*event)(Function, EventInstance *, EventRegistration *, int safety, void *user_data);
    void (*event_freed)(Function, EventRegistration *, int safety, void *user_data);
    void (*events_dropped)(Function, int64_t count, EventRegistration *, int source, int safety,
                           void *user_data);
    // The communicator whose handle is stored at this address, or nullptr if there is none.
    Comm *(*tool_comm)(const void *handle);
};

// Does the library refuse calls that only the standard forbids? Some calls that the standard forbids or
// does not define work in MPICH, Intel MPI and Open MPI alike. Existing programs contain such calls, so they
// work here too. They are refused only in a program that uses the standard's ABI with LANYARD_CHECK=on.
bool keeps_to_standard();

}  // namespace lanyard

// Called by the functions that initialise MPI or the tool information interface. A process uses one front
// end, because the handles of two ABIs do not mix. The first call decides which front end that is. A later
// call by another front end ends the job with a message that names both.
extern "C" [[gnu::visibility("default")]] void lanyard_use_door(const lanyard::Door &door);
