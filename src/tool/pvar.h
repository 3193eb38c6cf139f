// Performance variables: the registered counters (base/counters.h), seen through handles of sessions. The
// value of a handle starts where the handle was created or reset. The objects that count are not affected by
// handles.
//
//   counter, aggregate, timer  what was added while the handle was started; can be written, reset, or read
//                              and reset in one step
//   high watermark             the highest level while the handle was started; likewise. Handles of one
//                              variable share the counter's peak: before one of them restarts it, all others
//                              record it (fold)
//   level, size, state         the present value; always started, read-only; the first two may have several
//                              values
//
// Thread rule: under tool_lock().
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
    bool of_comm;                 // one for each communicator, of 32 bits
    const ToolEnum *enumeration;  // for a state
    const Counter *counter;

    // True if it is always started and read-only.
    bool is_continuous() const;
};

// One for each declared counter, in that order.
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
    uint64_t begun = 0;     // if started: the count from which it goes on
    uint64_t gathered = 0;  // what was counted before that; for a watermark: the highest so far
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
// No count is lost between the two.
void read_and_reset_pvar(PvarHandle &handle, void *to);

}  // namespace tool
}  // namespace lanyard
