// See event.h.
#include "tool/event.h"

#include <sched.h>

#include <algorithm>
#include <cstring>

#include "base/pool.h"
#include "base/spin_lock.h"
#include "coll/team.h"
#include "path/envelope.h"

namespace lanyard::tool {

namespace {

constexpr uint64_t queue_length = 1024;

struct Queue {
    // Protects the members before `pending`, and `first`, `dropped` and the functions of registrations.
    SpinLock lock;
    std::vector<EventRegistration *> listening;  // registrations with a function
    std::vector<EventRecord> records;            // a ring, created with the first registration
    uint64_t begin = 0, end = 0;                 // the numbers of the oldest event and of the next event
    // Dropped events of some registration are still to be reported.
    bool dropped = false;
    std::atomic<bool> pending{false};            // there is something to deliver
    std::atomic<bool> delivering{false};         // a thread delivers; only this thread frees registrations
    // Some registrations are closing; used only by the thread that delivers.
    bool to_free = false;
};

Queue &queue() {
    static auto &only = *new Queue;
    return only;
}

// True while this thread calls functions of the program.
thread_local bool in_delivery = false;
std::atomic<bool> delivers{false};  // true while MPI is active

ObjectPool<EventRegistration> &registrations() {
    static auto &only = *new ObjectPool<EventRegistration>(1 << 14);
    return only;
}
ObjectPool<EventInstance> &instances() {
    static auto &only = *new ObjectPool<EventInstance>(1 << 10);
    return only;
}

// True if the event is one for this registration. Events of a communicator's collectives count as events of
// the communicator.
bool wants(const EventRegistration &registration, const EventRecord &record) {
    return registration.row->event == record.event &&
           (!registration.bound.team ||
            registration.bound.team->context == (record.context | collective_bit));
}

// Puts an event into the queue, if a registration wants it. Called by the engine's owner.
void take(const EventRecord &record) {
    Queue &all = queue();
    SpinGuard guard(all.lock);
    bool full = all.end - all.begin == all.records.size();
    bool wanted = false;
    for (EventRegistration *each : all.listening) {
        if (!wants(*each, record)) continue;
        wanted = true;
        if (full) ++each->dropped;
    }
    if (!wanted) return;
    if (full) all.dropped = true;
    else all.records[all.end++ % all.records.size()] = record;
    all.pending.store(true, std::memory_order_release);
}

size_t level_of(const EventRegistration &registration) {
    size_t level = 0;
    while (level < safety_levels.size() && !registration.told[level].function) ++level;
    return level;
}

// Takes the next event from the queue, and lists the registrations to which it is to be delivered. False if
// the queue is empty.
bool next(EventRecord &record, std::vector<EventRegistration *> &who) {
    Queue &all = queue();
    SpinGuard guard(all.lock);
    who.clear();
    if (all.begin == all.end) return false;
    record = all.records[all.begin % all.records.size()];
    for (EventRegistration *each : all.listening)
        if (wants(*each, record) && each->first <= all.begin) who.push_back(each);
    ++all.begin;
    return true;
}

void tell(EventRegistration &registration, const EventRecord &record) {
    EventRegistration::Told told;
    {
        SpinGuard guard(queue().lock);
        size_t level = level_of(registration);
        if (registration.closing || level == safety_levels.size()) return;
        told = registration.told[level];
    }
    EventInstance *instance = instances().create();
    if (!instance) return;
    instance->row = registration.row;
    instance->record = record;
    told.function(*instance, registration, abi::t_cb_require_none, told.user_data);
    instances().destroy(instance);
}

void tell_dropped() {
    Queue &all = queue();
    std::vector<EventRegistration *> who;
    {
        SpinGuard guard(all.lock);
        if (!std::exchange(all.dropped, false)) return;
        for (EventRegistration *each : all.listening)
            if (each->dropped) who.push_back(each);
    }
    for (EventRegistration *each : who) {
        int64_t count = 0;
        DroppedFunction function;
        void *user_data = nullptr;
        {
            SpinGuard guard(all.lock);
            count = std::exchange(each->dropped, 0);
            function = each->dropped_function;
            if (size_t level = level_of(*each); level < safety_levels.size())
                user_data = each->told[level].user_data;
        }
        if (function && !each->closing) function(count, *each, 0, abi::t_cb_require_none, user_data);
    }
}

void deliver();

// Updates which events are wanted, and whether threads deliver them. Under tool_lock().
void adjust() {
    Queue &all = queue();
    uint32_t wanted = 0;
    SpinGuard guard(all.lock);
    all.listening.clear();
    registrations().each([&](EventRegistration &each) {
        if (each.closing || level_of(each) == safety_levels.size()) return;
        all.listening.push_back(&each);
        wanted |= uint32_t{1} << static_cast<int>(each.row->event);
    });
    detail::event_taker.store(take, std::memory_order_release);
    detail::wanted_events.store(wanted, std::memory_order_relaxed);
    if (delivers) host()->call_after_leaving(wanted ? deliver : nullptr);
}

void close(EventRegistration &registration) {
    std::lock_guard guard(tool_lock());
    registration.closing = true;
    adjust();
}

void finish(EventRegistration &registration) {
    FreedFunction function = registration.freed_function;
    close(registration);
    if (function) function(registration, abi::t_cb_require_none);
    std::lock_guard guard(tool_lock());
    registration.bound.release();
    registrations().destroy(&registration);
}

template <class Choose>
std::vector<EventRegistration *> chosen(Choose choose) {
    std::vector<EventRegistration *> found;
    std::lock_guard guard(tool_lock());
    registrations().each([&](EventRegistration &each) {
        if (choose(each)) found.push_back(&each);
    });
    return found;
}

// Delivers all events, reports dropped events, and frees closing registrations. Called by the thread that has
// set `delivering`.
void drain() {
    Queue &all = queue();
    in_delivery = true;
    EventRecord record;
    std::vector<EventRegistration *> who;
    while (all.pending.exchange(false, std::memory_order_acquire)) {
        while (next(record, who))
            for (EventRegistration *each : who) tell(*each, record);
        tell_dropped();
    }
    while (std::exchange(all.to_free, false))
        for (EventRegistration *each :
             chosen([](const EventRegistration &registration) { return registration.closing; }))
            finish(*each);
    in_delivery = false;
}

// Delivers events unless another thread does. Called by threads of the program that have left the engine.
void deliver() {
    Queue &all = queue();
    if (!all.pending.load(std::memory_order_relaxed) ||
        all.delivering.exchange(true, std::memory_order_acquire))
        return;
    drain();
    all.delivering.store(false, std::memory_order_release);
}

// Sets `delivering`. If another thread is delivering, first waits until it has finished.
void begin_delivering() {
    while (queue().delivering.exchange(true, std::memory_order_acquire)) sched_yield();
}

EventRow event_row(Event event, const char *name, const char *category, Audience audience, bool of_comm,
                   const char *sentence, std::vector<EventElement> elements) {
    EventRow row{name, category, sentence, event, audience, of_comm, std::move(elements)};
    int end = 0;
    std::vector<std::string> names;
    for (EventElement &element : row.elements) {
        int bytes = element.datatype == abi::type_int ? 4 : 8;
        element.displacement = (end + bytes - 1) / bytes * bytes;
        end = element.displacement + bytes;
        names.emplace_back(element.name);
    }
    row.enumeration = make_enumeration(std::string("elements of ") + name, names);
    return row;
}

}  // namespace

const std::vector<EventRow> &event_table() {
    using enum Audience;
    constexpr int integer = abi::type_int, count = abi::type_count;
    static const std::vector<EventRow> table = {
        event_row(Event::unexpected_message, "p2p_unexpected_message", "p2p", user, true,
                  "a message, or the offer of a message, arrived before its receive and was stored",
                  {{"source", integer, 0}, {"tag", integer, 0}, {"bytes", count, 0}}),
        event_row(
            Event::rendezvous, "p2p_rendezvous", "p2p", user, true,
            "a message is offered before it is sent; why: 0 it is synchronous, 1 it is too long to be "
            "sent at once, 2 the receiver has not yet taken what was sent to it, 3 the receiver can "
            "take it from memory of MPI_Alloc_mem",
            {{"destination", integer, 0}, {"tag", integer, 0}, {"bytes", count, 0}, {"why", integer, 0}}),
        event_row(Event::algorithm, "coll_algorithm", "coll", expert, true,
                  "the best algorithm was chosen; operation: its position among the control variables "
                  "coll_x_algorithm; algorithm: a value of that variable; bytes: the size from which on the "
                  "choice holds; processes: the number of processes that take part",
                  {{"operation", integer, 0},
                   {"algorithm", integer, 0},
                   {"bytes", count, 0},
                   {"processes", integer, 0}}),
        event_row(Event::connection_made, "network_connection_made", "network", user, false,
                  "a TCP connection to a process was made; process: its number in the job; again: 1 if there "
                  "was one before",
                  {{"process", integer, 0}, {"again", integer, 0}}),
        event_row(Event::connection_broken, "network_connection_broken", "network", user, false,
                  "the TCP connection to a process broke and will be made again", {{"process", integer, 0}}),
        event_row(Event::peer_lost, "network_process_lost", "network", user, false,
                  "a process can no longer be reached (LANYARD_PEER_TIMEOUT)", {{"process", integer, 0}}),
        event_row(Event::peer_silent, "network_process_silent", "network", user, false,
                  "a process to which datagrams were sent has not answered for two seconds; silent: 1 then, "
                  "and 0 when it answers again",
                  {{"process", integer, 0}, {"silent", integer, 0}}),
    };
    static_assert(static_cast<int>(Event::count_of_them) == 7);
    return table;
}

const std::vector<EventSource> &event_sources() {
    static const std::vector<EventSource> only = {
        {"process", "this process, by CLOCK_MONOTONIC", abi::t_source_ordered, 1'000'000'000, INT64_MAX}};
    return only;
}

Error make_registration(const EventRow &row, const Bound &bound, EventRegistration *&registration) {
    registration = registrations().create();
    if (!registration)
        return failure(abi::t_err_out_of_handles, "there is no room for another event registration");
    registration->row = &row;
    registration->bound = bound;
    bound.hold();
    SpinGuard guard(queue().lock);
    if (queue().records.empty()) queue().records.resize(queue_length);
    return {};
}

Error find_registration(const EventRegistration *registration) {
    bool good = registrations().holds(registration) && !registration->closing;
    return good ? Error() : failure(abi::t_err_invalid_handle, "this is no event registration");
}

void set_event_function(EventRegistration &registration, size_t level, EventFunction function,
                        void *user_data) {
    {
        SpinGuard guard(queue().lock);
        if (level_of(registration) == safety_levels.size()) registration.first = queue().end;
        registration.told[level] = {std::move(function), user_data};
    }
    adjust();
}

void set_dropped_function(EventRegistration &registration, DroppedFunction function) {
    SpinGuard guard(queue().lock);
    registration.dropped_function = std::move(function);
}

void free_registration(EventRegistration &registration, FreedFunction function) {
    registration.freed_function = std::move(function);
    if (in_delivery) {  // drain(), which runs in this thread, will free the registration
        close(registration);
        queue().to_free = true;
        queue().pending.store(true, std::memory_order_release);
        return;
    }
    begin_delivering();
    drain();
    finish(registration);
    queue().delivering.store(false, std::memory_order_release);
}

void free_all_registrations() {
    if (in_delivery) return;
    begin_delivering();
    for (EventRegistration *each : chosen([](const EventRegistration &) { return true; })) finish(*each);
    queue().delivering.store(false, std::memory_order_release);
}

Error find_instance(const EventInstance *instance) {
    return instances().holds(instance)
               ? Error()
               : failure(abi::t_err_invalid_handle, "this is no event that is just being told of");
}

void read_event(const EventInstance &instance, size_t element, void *to) {
    int64_t value = instance.record.values[element];
    if (instance.row->elements[element].datatype == abi::type_int)
        *static_cast<int *>(to) = static_cast<int>(value);
    else *static_cast<int64_t *>(to) = value;
}

void begin_events() {
    std::lock_guard guard(tool_lock());
    delivers = true;
    adjust();
}

void end_events() {
    deliver();
    delivers = false;
    host()->call_after_leaving(nullptr);
}

}  // namespace lanyard::tool
