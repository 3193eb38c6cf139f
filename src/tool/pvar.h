// Performance variables: the registered counters (base/counters.h), seen through handles of sessions. What a handle shows begins where it
// was made or reset: who counts counts on regardless, and nothing about a handle reaches it.
//
//   counter, aggregate, timer   what was added while the handle was started; can be written, reset, and read and reset at once
//   high watermark              the highest level while it was started; likewise. Handles of one variable share the counter's peak: who
//                               begins anew first tells the others what it was (fold)
//   level, size, state          what is now; always started, only read; the first two may have several values
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
    const ToolEnum *enumeration;  // of a state
    const Counter *counter;

    // Is it always started, and only read?
    bool is_continuous() const;
};

// One for each counter that was declared, in that order.
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
    uint64_t begun = 0;     // started: the count then
    uint64_t gathered = 0;  // before that; of a watermark: the highest so far
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
// Nothing is lost in between.
void read_and_reset_pvar(PvarHandle &handle, void *to);

}  // namespace tool
}  // namespace lanyard
