// Delivers events of MPI_T to tools. The layers of the library report events through base/events.h. An event
// is kept until a thread of the program has left the engine. This thread then delivers the event to the tool.
//
// When an event happens, the engine's owner copies it into a queue, which serves all registrations. The owner
// may be the helper thread, which must not call functions of the program. Later, a thread of the program that
// has left the engine (Engine::leave), but is still inside its MPI call, empties the queue. Only one thread
// at a time does so, in the order in which the events happened. A tool may register a function for each level
// of callback safety. A function that is called here may make any MPI call, so the function of the least
// restrictive level is called. Events that happen while the queue is full are counted and reported as
// dropped. While nothing is registered, the only cost is that a layer reads one word, off the fast path of a
// message.
//
// A tool's function must not throw. The MPI call in which it happens to run has already done its work, so an
// exception would make this call look failed. If a function throws, the process is aborted (base/thrown.h).
//
// Thread rule: registrations are created and changed under tool_lock(). The queue has a lock of its own,
// which the engine's owner takes, too. Functions of the program run without any lock. Only one thread at a
// time may call these functions or free registrations, so no function is called after its registration was
// freed.
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
    int displacement;  // the element's offset in the copy of an event
};

struct EventRow {
    const char *name, *category, *sentence;
    Event event;
    Audience audience;
    bool of_comm;  // a registration is bound to a communicator
    std::vector<EventElement> elements;
    const ToolEnum *enumeration = nullptr;  // the names of the elements
};

// All events, in the order of the enumerators of Event.
const std::vector<EventRow> &event_table();

// A source of events. There is one source: this process. Its events are ordered, with times of the monotonic
// clock.
struct EventSource {
    const char *name, *sentence;
    int order;  // an abi::t_source_ value
    int64_t ticks_per_second, most_ticks;
};
const std::vector<EventSource> &event_sources();

// The levels of callback safety, the least restrictive first.
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
    uint64_t first = 0;    // the number of the first event that is delivered to this registration
    int64_t dropped = 0;   // the number of dropped events that have not been reported
    bool closing = false;  // about to be freed; none of its functions is called for events any more
};

namespace tool {

Error make_registration(const EventRow &row, const Bound &bound, EventRegistration *&registration);
Error find_registration(const EventRegistration *registration);
// These two functions replace the present function; an empty function removes it. Under tool_lock().
void set_event_function(EventRegistration &registration, size_t level, EventFunction function,
                        void *user_data);
void set_dropped_function(EventRegistration &registration, DroppedFunction function);
// Delivers the events that have happened, then frees the registration. If a function of the program that is
// being called for an event makes this call, the registration is freed when all events have been delivered.
// free_all_registrations() does not deliver events first, and does nothing if such a function calls it. Both
// must not be called under tool_lock().
void free_registration(EventRegistration &registration, FreedFunction function);
void free_all_registrations();

Error find_instance(const EventInstance *instance);
void read_event(const EventInstance &instance, size_t element, void *to);

// Called when MPI has become active. From now on threads that leave the engine deliver events.
void begin_events();
// Called when MPI is about to be finalised. Delivers the events that have happened, unless another thread is
// delivering; then does not wait for that thread. From now on threads that leave the engine deliver none.
void end_events();

}  // namespace tool
}  // namespace lanyard
