// A door is one ABI of the library (one shared object with MPI_ functions). The core calls the program's functions only
// through the door by which they came, since only the door knows the handles of its ABI. Every door defines one constant
// Door; whoever stores a Callback (types.h) stores its door with it. Called on the thread that is inside MPI, never by
// the helper thread. The functions return what the program's function returns.
#pragma once

#include <cstdint>

#include "api/types.h"

namespace lanyard {

using Function = void (*)();

struct Door {
    // For messages: its file name, "libmpi_abi.so.1"; its ABI, "the MPI-5.0 standard's ABI"; and of a program whose
    // handles are of the other ABI: how it must have been compiled, and what to do.
    const char *library, *abi, *strangers, *advice;
    bool of_the_standard;  // its ABI is that of MPI-5.0

    // inout[i] = in[i] op inout[i]; a function without large counts is called in pieces.
    void (*call_op)(Function, bool large_count, const void *in, void *inout, int64_t count, Datatype *);

    // Attribute functions; `function` is not one of the ABI's constants.
    int (*copy_comm_attribute)(Function, Comm *, int keyval, void *extra_state, void *value, void *copy, int *flag);
    int (*delete_comm_attribute)(Function, Comm *, int keyval, void *value, void *extra_state);
    int (*copy_type_attribute)(Function, Datatype *, int keyval, void *extra_state, void *value, void *copy, int *flag);
    int (*delete_type_attribute)(Function, Datatype *, int keyval, void *value, void *extra_state);
    int (*copy_win_attribute)(Function, Win *, int keyval, void *extra_state, void *value, void *copy, int *flag);
    int (*delete_win_attribute)(Function, Win *, int keyval, void *value, void *extra_state);

    // Error handlers made by the program; they may change the code.
    void (*comm_error)(Function, Comm *, int *code);
    void (*session_error)(Function, Session *, int *code);
    void (*win_error)(Function, Win *, int *code);
    void (*file_error)(Function, File *, int *code);

    // Generalised requests.
    int (*query_request)(Function, void *extra_state, Status *);
    int (*free_request)(Function, void *extra_state);
    int (*cancel_request)(Function, void *extra_state, int complete);

    // Data representations of files.
    int (*datarep_extent)(Function, Datatype *, int64_t *extent, void *extra_state);
    int (*datarep_convert)(Function, bool large_count, void *user, Datatype *, int64_t count, void *file, int64_t position, void *extra_state);

    // Events of the tool information interface. `safety` is an abi::t_cb_ value.
    void (*event)(Function, EventInstance *, EventRegistration *, int safety, void *user_data);
    void (*event_freed)(Function, EventRegistration *, int safety, void *user_data);
    void (*events_dropped)(Function, int64_t count, EventRegistration *, int source, int safety, void *user_data);
    // The communicator whose handle lies there; nullptr: there is none.
    Comm *(*tool_comm)(const void *handle);
};

// Some of what the standard forbids, or does not define, works in MPICH, Intel MPI and Open MPI alike, and so
// in programs that users have: it works here, too. Where a program uses the ABI of the standard and
// LANYARD_CHECK=on asks for it, such a call is refused.
bool keeps_to_standard();

}  // namespace lanyard

// Called by the functions that initialise: a process uses one door, since the handles of two ABIs do not mix. The first caller
// chooses; one that comes by another door is told which two were loaded, and the job stops.
extern "C" [[gnu::visibility("default")]] void lanyard_use_door(const lanyard::Door &door);
