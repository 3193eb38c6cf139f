// See pvar.h.
#include "tool/pvar.h"

#include <algorithm>
#include <cmath>

#include "base/pool.h"

namespace lanyard::tool {

namespace {

constexpr double ns_per_s = 1e9;

ObjectPool<PvarHandle> &handles() {
    static auto &only = *new ObjectPool<PvarHandle>(1 << 18);
    return only;
}
ObjectPool<PvarSession> &sessions() {
    static auto &only = *new ObjectPool<PvarSession>(1 << 14);
    return only;
}

int class_of(CounterClass kind) {
    switch (kind) {
        case CounterClass::counter: return abi::t_pvar_class_counter;
        case CounterClass::level: return abi::t_pvar_class_level;
        case CounterClass::size: return abi::t_pvar_class_size;
        case CounterClass::timer: return abi::t_pvar_class_timer;
        case CounterClass::watermark: return abi::t_pvar_class_highwatermark;
        case CounterClass::state: break;
    }
    return abi::t_pvar_class_state;
}

int datatype_of(const Counter &counter, bool of_comm) {
    if (counter.kind == CounterClass::state) return abi::type_int;
    if (counter.kind == CounterClass::timer) return abi::type_double;
    return of_comm ? abi::type_unsigned : abi::type_unsigned_long_long;
}

Pvar variable_of(const Counter &counter) {
    bool of_comm = counter.table->of_objects();
    // The name without the category: "engine_waiting" becomes "waiting".
    std::string name(counter.name), own_name = name.substr(name.find('_') + 1);
    const ToolEnum *enumeration = counter.words.empty() ? nullptr : make_enumeration(own_name, counter.words);
    return {counter.name, counter.category, counter.sentence, class_of(counter.kind),
            datatype_of(counter, of_comm), verbosity_of(counter.audience), of_comm, enumeration, &counter};
}

uint64_t count_now(const PvarHandle &handle) {
    const Pvar &variable = *handle.variable;
    return variable.of_comm ? variable.counter->value_of(handle.bound.team) : variable.counter->value();
}

bool is_watermark(const PvarHandle &handle) {
    return handle.variable->pvar_class == abi::t_pvar_class_highwatermark;
}

// Restarts the counter's peak at the present level, and lets all started handles record the old peak.
void fold(const Pvar &variable) {
    uint64_t before = variable.counter->begin_anew();
    handles().each([&](PvarHandle &each) {
        if (each.variable == &variable && each.started) each.gathered = std::max(each.gathered, before);
    });
}

// Updates the handle's value and returns it. What has been added to the value once is not added again later.
uint64_t gather(PvarHandle &handle) {
    uint64_t now = count_now(handle);
    if (handle.variable->is_continuous()) return now;
    if (!handle.started) return handle.gathered;
    if (is_watermark(handle)) {
        handle.gathered = std::max({handle.gathered, now, handle.variable->counter->highest()});
    } else {
        handle.gathered +=
            handle.variable->of_comm ? static_cast<uint32_t>(now - handle.begun) : now - handle.begun;
        handle.begun = now;
    }
    return handle.gathered;
}

void store(const PvarHandle &handle, uint64_t value, void *to, int place = 0) {
    switch (handle.variable->datatype) {
        case abi::type_int: static_cast<int *>(to)[place] = static_cast<int>(value); break;
        case abi::type_unsigned: static_cast<unsigned *>(to)[place] = static_cast<unsigned>(value); break;
        case abi::type_double:
            static_cast<double *>(to)[place] = static_cast<double>(value) / ns_per_s;
            break;
        default: static_cast<unsigned long long *>(to)[place] = value;
    }
}

uint64_t load(const PvarHandle &handle, const void *from) {
    switch (handle.variable->datatype) {
        case abi::type_unsigned: return *static_cast<const unsigned *>(from);
        case abi::type_double:
            return static_cast<uint64_t>(
                std::llround(std::max(0.0, *static_cast<const double *>(from)) * ns_per_s));
        default: return *static_cast<const unsigned long long *>(from);
    }
}

// Sets the handle's value from now on.
void begin_from(PvarHandle &handle, uint64_t value) {
    if (is_watermark(handle)) fold(*handle.variable);
    handle.begun = count_now(handle);
    handle.gathered = value;
}

}  // namespace

bool Pvar::is_continuous() const {
    return pvar_class == abi::t_pvar_class_level || pvar_class == abi::t_pvar_class_size ||
           pvar_class == abi::t_pvar_class_state;
}

const std::vector<Pvar> &pvars() {
    static const std::vector<Pvar> table = [] {
        std::vector<Pvar> made;
        for (const CounterTable *counters : counter_tables())
            for (const Counter &counter : counters->rows()) made.push_back(variable_of(counter));
        return made;
    }();
    return table;
}

Error make_pvar_session(PvarSession *&session) {
    session = sessions().create();
    return session ? Error()
                   : failure(abi::t_err_out_of_sessions,
                             "there is no room for another session of performance variables");
}

Error find_pvar_session(const PvarSession *session) {
    return sessions().holds(session)
               ? Error()
               : failure(abi::t_err_invalid_session, "this is no session of performance variables");
}

void free_pvar_session(PvarSession *session) {
    while (!session->handles.empty()) free_pvar_handle(session->handles.back());
    sessions().destroy(session);
}

void free_all_pvar_sessions() {
    sessions().each([](PvarSession &session) { free_pvar_session(&session); });
}

Error make_pvar_handle(PvarSession &session, const Pvar &variable, const Bound &bound, PvarHandle *&handle) {
    handle = handles().create();
    if (!handle)
        return failure(abi::t_err_out_of_handles,
                       "there is no room for another handle of a performance variable");
    handle->variable = &variable;
    handle->session = &session;
    handle->values = variable.counter->places_now();
    handle->bound = bound;
    bound.hold();
    handle->started = variable.is_continuous();
    reset_pvar(*handle);
    session.handles.push_back(handle);
    return {};
}

Error find_pvar_handle(const PvarSession &session, const PvarHandle *handle) {
    bool good = handles().holds(handle) && handle->session == &session;
    return good ? Error()
                : failure(abi::t_err_invalid_handle,
                          "this is no handle of a performance variable in this session");
}

void free_pvar_handle(PvarHandle *handle) {
    std::erase(handle->session->handles, handle);
    handle->bound.release();
    handles().destroy(handle);
}

void start_pvar(PvarHandle &handle) {
    if (handle.started) return;
    if (is_watermark(handle)) {
        fold(*handle.variable);
        handle.gathered = std::max(handle.gathered, count_now(handle));
    }
    handle.begun = count_now(handle);
    handle.started = true;
}

void stop_pvar(PvarHandle &handle) {
    gather(handle);
    handle.started = false;
}

void read_pvar(PvarHandle &handle, void *to) {
    const Counter &counter = *handle.variable->counter;
    if (!counter.has_places()) return store(handle, gather(handle), to);
    for (int place = 0; place < handle.values; ++place) store(handle, counter.value(place), to, place);
}

void reset_pvar(PvarHandle &handle) {
    if (handle.variable->is_continuous()) return;
    begin_from(handle, is_watermark(handle) ? count_now(handle) : 0);
}

void write_pvar(PvarHandle &handle, const void *from) { begin_from(handle, load(handle, from)); }

void read_and_reset_pvar(PvarHandle &handle, void *to) {
    if (is_watermark(handle)) fold(*handle.variable);
    store(handle, gather(handle), to);
    handle.gathered = is_watermark(handle) ? count_now(handle) : 0;
}

}  // namespace lanyard::tool
