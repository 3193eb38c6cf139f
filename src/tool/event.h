// Events: what the layers report through base/events.h. They are kept until a thread of the program leaves
// MPI, and delivered to the tool there.
//
// When an event happens, the engine's owner copies it into one queue for all registrations. The owner may be
// the helper thread, which must not call the program's functions. A thread of the program that has left the
// engine (Engine::leave), still inside its MPI call, empties the queue: one thread at a time, in the order in
// which the events happened. There the tool's function may call anything, so the least restrictive function
// registered is called. Events that occur while the queue is full are counted and reported as dropped. While
// nothing is registered, a layer pays for reading one word, off the fast path of a message. Nothing else has
// a cost.
//
// A tool's function must not throw, because the call in which it happens to run has done its work. If it
// throws, the process is stopped (base/thrown.h).
//
// Thread rule: registrations are created and changed under tool_lock(). The queue has a lock of its own,
// which the engine's owner takes too. Functions of the program run without any lock. Only the thread that may
// call them (deliver) frees a registration, so none is called afterwards.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "base/events.h"
#include "tool/tool.h"

namespace lanyard {

namespace tool {

struct EventElement {
    const char *name;
    int datatype;      // abi::type_int or abi::type_count
    int displacement;  // in the copy of an event
};

struct EventRow {
    const char *name, *category, *sentence;
    Event event;
    Audience audience;
    bool of_comm;  // one for each communicator
    std::vector<EventElement> elements;
    const ToolEnum *enumeration = nullptr;  // the names of the elements
};

// In the order of Event.
const std::vector<EventRow> &event_table();

// All events have one source: this process, in order, by the monotonic clock.
struct EventSource {
    const char *name, *sentence;
    int order;  // an abi::t_source_ value
    int64_t ticks_per_second, most_ticks;
};
const std::vector<EventSource> &event_sources();

// From the least restrictive on.
inline constexpr std::array<int, 4> safety_levels = {abi::t_cb_require_none, abi::t_cb_require_mpi_restricted,
                                                     abi::t_cb_require_thread_safe,
                                                     abi::t_cb_require_async_signal_safe};

}  // namespace tool

struct EventInstance : Object {
    const tool::EventRow *row = nullptr;
    EventRecord record;
};

struct EventRegistration;

namespace tool {

// The program's functions, as its ABI front end calls them.
using EventFunction = std::function<void(EventInstance &, EventRegistration &, int safety, void *user_data)>;
using DroppedFunction =
    std::function<void(int64_t count, EventRegistration &, int source, int safety, void *user_data)>;
using FreedFunction = std::function<void(EventRegistration &, int safety)>;

}  // namespace tool

struct EventRegistration : Object {
    struct Told {
        tool::EventFunction function;
        void *user_data = nullptr;
    };
    const tool::EventRow *row = nullptr;
    tool::Bound bound;
    Told told[tool::safety_levels.size()];
    tool::DroppedFunction dropped_function;
    tool::FreedFunction freed_function;
    uint64_t first = 0;    // the number of the first event for it
    int64_t dropped = 0;   // not yet reported
    bool closing = false;  // freed by a function of the program that is being called for an event
};

namespace tool {

Error make_registration(const EventRow &row, const Bound &bound, EventRegistration *&registration);
Error find_registration(const EventRegistration *registration);
// An empty function removes the present one. Under tool_lock().
void set_event_function(EventRegistration &registration, size_t level, EventFunction function,
                        void *user_data);
void set_dropped_function(EventRegistration &registration, DroppedFunction function);
// Delivers first what has happened. This function and the next must not be called under tool_lock().
void free_registration(EventRegistration &registration, FreedFunction function);
void free_all_registrations();

Error find_instance(const EventInstance *instance);
void read_event(const EventInstance &instance, size_t element, void *to);

// MPI is active from now on: threads that leave the engine deliver events.
void begin_events();
// MPI is about to be finalised: delivers what has happened. Afterwards nothing is delivered from inside other
// calls.
void end_events();

}  // namespace tool
}  // namespace lanyard
