// Defines the performance variables of MPI_T. They are the registered counters (base/counters.h), which a
// tool reads through handles that belong to sessions. The value of a handle counts from when the handle was
// created or reset. Except for the peak of a watermark, handles do not affect the objects that count. The
// value of a handle depends on the class:
//
//   counter, timer      what was added while the handle was started; can be written, reset, or read and reset
//                       in one step
//   high watermark      the highest level while the handle was started; can be written and reset in the same
//                       way. All handles of a variable share the counter's peak. Before the peak is restarted
//                       for one handle, all started handles record it (fold)
//   level, size, state  the present value; always started and read-only; a level or size may have several
//                       values
//
// Thread rule: under tool_lock().
// Tested by: tests/unit/tool/tool_test.cc, tests/mpi/tool/pvars.cc.
#pragma once

#include <vector>

#include "base/counters.h"
#include "tool/tool.h"

namespace lanyard {

namespace tool {

// A counter as MPI_T describes it.
struct Pvar {
    const char *name, *category, *sentence;
    int pvar_class, datatype;     // abi::t_pvar_class_ and abi::type_ values
    int verbosity;
    bool of_comm;                 // a handle is bound to a communicator; values have 32 bits
    const ToolEnum *enumeration;  // for a state: the names of its values
    const Counter *counter;

    // True if handles of this variable are always started and read-only.
    bool is_continuous() const;
};

// One variable for each declared counter, in the order of the counters.
const std::vector<Pvar> &pvars();

}  // namespace tool

struct PvarHandle;

struct PvarSession : Object {
    std::vector<PvarHandle *> handles;
};

struct PvarHandle : Object {
    const tool::Pvar *variable = nullptr;
    PvarSession *session = nullptr;
    tool::Bound bound;
    int values = 1;
    bool started = false;
    uint64_t begun = 0;     // if started: the count that is already included in `gathered`
    uint64_t gathered = 0;  // what was counted up to `begun`; for a watermark: the highest level so far
};

namespace tool {

Error make_pvar_session(PvarSession *&session);
Error find_pvar_session(const PvarSession *session);
void free_pvar_session(PvarSession *session);
void free_all_pvar_sessions();

Error make_pvar_handle(PvarSession &session, const Pvar &variable, const Bound &bound, PvarHandle *&handle);
Error find_pvar_handle(const PvarSession &session, const PvarHandle *handle);
void free_pvar_handle(PvarHandle *handle);

void start_pvar(PvarHandle &handle);
void stop_pvar(PvarHandle &handle);
void read_pvar(PvarHandle &handle, void *to);
void reset_pvar(PvarHandle &handle);
void write_pvar(PvarHandle &handle, const void *from);
// Nothing that is counted between reading and resetting is lost.
void read_and_reset_pvar(PvarHandle &handle, void *to);

}  // namespace tool
}  // namespace lanyard
