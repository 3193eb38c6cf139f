// Performance variables: the rows of counter_table(), seen through handles of sessions. What a handle shows begins where it was made or
// reset: the layers count on regardless, and nothing about a handle reaches them.
//
//   counter, aggregate, timer   what was added while the handle was started; can be written, reset, and read and reset at once
//   high watermark              the highest level while it was started; likewise. Handles of one variable share the layer's peak: who
//                               begins anew first tells the others what it was (fold)
//   level, size, state          what is now; always started, only read; the first two may have several values
// Thread rule: under tool_lock().
#pragma once

#include <vector>

#include "tool/counters.h"

namespace lanyard {

struct PvarHandle;

struct PvarSession : Object {
    std::vector<PvarHandle *> handles;
};

struct PvarHandle : Object {
    const tool::CounterRow *variable = nullptr;
    PvarSession *session = nullptr;
    tool::Bound bound;
    int values = 1;
    bool started = false;
    uint64_t begun = 0;     // started: the layer's count then
    uint64_t gathered = 0;  // before that; of a watermark: the highest so far
};

namespace tool {

// Is it always started, and only read?
bool is_continuous(const CounterRow &row);
// The datatype of its values, an abi::type_ value.
int datatype_of(const CounterRow &row);

Error make_pvar_session(PvarSession *&session);
Error find_pvar_session(const PvarSession *session);
void free_pvar_session(PvarSession *session);
void free_all_pvar_sessions();

Error make_pvar_handle(PvarSession &session, const CounterRow &variable, const Bound &bound, PvarHandle *&handle);
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
