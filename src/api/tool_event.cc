// Defines the typed functions (types.h) of the tool information interface for events and their sources
// (MPI-5.0 section 15.3.8). Any thread.
// Tested by: tests/mpi/tool/events.cc.
#include <algorithm>
#include <cstddef>

#include "api/generated/core.h"
#include "api/tool.h"
#include "base/clock.h"
#include "base/thrown.h"
#include "comm/info.h"
#include "datatype/predefined.h"
#include "tool/event.h"

namespace lanyard {

namespace {

constexpr const char *tools_function = "a function of a tool that is told of events";

// Returns an empty info object. The library supports no hints for events, so no hint is ever in use.
Error give_no_hints(Info **info) {
    if (!info) return {};
    *info = new_info();
    return *info ? Error()
                 : tool::failure(abi::t_err_memory, "there is no memory left for another info object");
}

Error find_level(int safety, size_t &level) {
    auto known = std::find(tool::safety_levels.begin(), tool::safety_levels.end(), safety);
    level = static_cast<size_t>(known - tool::safety_levels.begin());
    return known != tool::safety_levels.end()
               ? Error()
               : tool::failure(abi::t_err_invalid, std::to_string(safety) + " is no level of safety");
}

Error check_registration(const ToolGuard &guard, const EventRegistration *registration) {
    Error error = guard.check();
    return error ? error : tool::find_registration(registration);
}

Error check_instance(const ToolGuard &guard, const EventInstance *instance) {
    Error error = guard.check();
    return error ? error : tool::find_instance(instance);
}

}  // namespace

extern "C" {

Error lanyard_t_source_get_num(int *num_sources) {
    ToolGuard guard;
    if (Error error = guard.check()) return error;
    tool::give(num_sources, tool::event_sources().size());
    return {};
}

Error lanyard_t_source_get_info(int source_index, char *name, int *name_len, char *desc, int *desc_len,
                                int *ordering, int64_t *ticks_per_second, int64_t *max_ticks, Info **info) {
    ToolGuard guard;
    if (Error error = guard.check()) return error;
    if (Error error = check_index(tool::event_sources(), source_index)) return error;
    const tool::EventSource &source = tool::event_sources()[static_cast<size_t>(source_index)];
    tool::give_text(source.name, name, name_len);
    tool::give_text(source.sentence, desc, desc_len);
    tool::give(ordering, source.order);
    tool::give(ticks_per_second, source.ticks_per_second);
    tool::give(max_ticks, source.most_ticks);
    return give_no_hints(info);
}

Error lanyard_t_source_get_timestamp(int source_index, int64_t *timestamp) {
    ToolGuard guard;
    if (Error error = guard.check()) return error;
    if (Error error = check_index(tool::event_sources(), source_index)) return error;
    tool::give(timestamp, clock_ns());
    return {};
}

Error lanyard_t_event_get_num(int *num_events) {
    ToolGuard guard;
    if (Error error = guard.check()) return error;
    tool::give(num_events, tool::event_table().size());
    return {};
}

Error lanyard_t_event_get_info(int event_index, char *name, int *name_len, int *verbosity,
                               Datatype **array_of_datatypes, ptrdiff_t *array_of_displacements,
                               int *num_elements, ToolEnum **enumtype, Info **info, char *desc, int *desc_len,
                               int *bind) {
    ToolGuard guard;
    if (Error error = guard.check()) return error;
    if (Error error = check_index(tool::event_table(), event_index)) return error;
    const tool::EventRow &row = tool::event_table()[static_cast<size_t>(event_index)];
    tool::give_text(row.name, name, name_len);
    tool::give_text(row.sentence, desc, desc_len);
    tool::give(verbosity, tool::verbosity_of(row.audience));
    tool::give(bind, row.of_comm ? abi::t_bind_mpi_comm : abi::t_bind_no_object);
    if (enumtype) *enumtype = const_cast<ToolEnum *>(row.enumeration);
    for (int i = 0; num_elements && i < std::min(*num_elements, static_cast<int>(row.elements.size())); ++i) {
        const tool::EventElement &element = row.elements[static_cast<size_t>(i)];
        if (array_of_datatypes) array_of_datatypes[i] = predefined_datatype(element.datatype);
        if (array_of_displacements) array_of_displacements[i] = element.displacement;
    }
    tool::give(num_elements, row.elements.size());
    return give_no_hints(info);
}

Error lanyard_t_event_get_index(const char *name, int *event_index) {
    ToolGuard guard;
    if (Error error = guard.check()) return error;
    return find_name(tool::event_table(), name, event_index);
}

Error lanyard_t_event_handle_alloc(int event_index, ToolObject obj_handle, Info *,
                                   EventRegistration **event_registration) {
    ToolGuard guard;
    tool::Bound bound;
    if (Error error = guard.check()) return error;
    if (Error error = check_index(tool::event_table(), event_index)) return error;
    if (Error error = check_place(event_registration)) return error;
    const tool::EventRow &row = tool::event_table()[static_cast<size_t>(event_index)];
    if (Error error = find_bound(row.of_comm, obj_handle, bound)) return error;
    return tool::make_registration(row, bound, *event_registration);
}

Error lanyard_t_event_handle_free(EventRegistration *event_registration, void *user_data,
                                  Callback free_cb_function) {
    {
        ToolGuard guard;
        if (Error error = check_registration(guard, event_registration)) return error;
    }
    tool::FreedFunction freed;
    if (free_cb_function.function)
        freed = [=](EventRegistration &registration, int safety) {
            forbidding_to_throw(tools_function, [&] {
                free_cb_function.door->event_freed(free_cb_function.function, &registration, safety,
                                                   user_data);
            });
        };
    tool::free_registration(*event_registration, std::move(freed));
    return {};
}

Error lanyard_t_event_handle_set_info(EventRegistration *event_registration, Info *) {
    ToolGuard guard;
    return check_registration(guard, event_registration);
}

Error lanyard_t_event_handle_get_info(EventRegistration *event_registration, Info **info_used) {
    ToolGuard guard;
    if (Error error = check_registration(guard, event_registration)) return error;
    return give_no_hints(info_used);
}

Error lanyard_t_event_register_callback(EventRegistration *event_registration, int cb_safety, Info *,
                                        void *user_data, Callback event_cb_function) {
    ToolGuard guard;
    size_t level = 0;
    if (Error error = check_registration(guard, event_registration)) return error;
    if (Error error = find_level(cb_safety, level)) return error;
    tool::EventFunction function;
    if (event_cb_function.function)
        function = [=](EventInstance &instance, EventRegistration &registration, int safety, void *data) {
            forbidding_to_throw(tools_function, [&] {
                event_cb_function.door->event(event_cb_function.function, &instance, &registration, safety,
                                              data);
            });
        };
    tool::set_event_function(*event_registration, level, std::move(function), user_data);
    return {};
}

Error lanyard_t_event_callback_set_info(EventRegistration *event_registration, int cb_safety, Info *) {
    ToolGuard guard;
    size_t level = 0;
    if (Error error = check_registration(guard, event_registration)) return error;
    return find_level(cb_safety, level);
}

Error lanyard_t_event_callback_get_info(EventRegistration *event_registration, int cb_safety,
                                        Info **info_used) {
    ToolGuard guard;
    size_t level = 0;
    if (Error error = check_registration(guard, event_registration)) return error;
    if (Error error = find_level(cb_safety, level)) return error;
    return give_no_hints(info_used);
}

Error lanyard_t_event_set_dropped_handler(EventRegistration *event_registration,
                                          Callback dropped_cb_function) {
    ToolGuard guard;
    if (Error error = check_registration(guard, event_registration)) return error;
    tool::DroppedFunction function;
    if (dropped_cb_function.function)
        function = [=](int64_t count, EventRegistration &registration, int source, int safety,
                       void *user_data) {
            forbidding_to_throw(tools_function, [&] {
                dropped_cb_function.door->events_dropped(dropped_cb_function.function, count, &registration,
                                                         source, safety, user_data);
            });
        };
    tool::set_dropped_function(*event_registration, std::move(function));
    return {};
}

Error lanyard_t_event_read(EventInstance *event_instance, int element_index, void *buffer) {
    ToolGuard guard;
    if (Error error = check_instance(guard, event_instance)) return error;
    if (Error error = check_index(event_instance->row->elements, element_index)) return error;
    if (Error error = check_place(buffer)) return error;
    tool::read_event(*event_instance, static_cast<size_t>(element_index), buffer);
    return {};
}

Error lanyard_t_event_copy(EventInstance *event_instance, void *buffer) {
    ToolGuard guard;
    if (Error error = check_instance(guard, event_instance)) return error;
    if (Error error = check_place(buffer)) return error;
    const auto &elements = event_instance->row->elements;
    for (size_t i = 0; i < elements.size(); ++i)
        tool::read_event(*event_instance, i, static_cast<std::byte *>(buffer) + elements[i].displacement);
    return {};
}

Error lanyard_t_event_get_timestamp(EventInstance *event_instance, int64_t *event_timestamp) {
    ToolGuard guard;
    if (Error error = check_instance(guard, event_instance)) return error;
    tool::give(event_timestamp, event_instance->record.time_ns);
    return {};
}

Error lanyard_t_event_get_source(EventInstance *event_instance, int *source_index) {
    ToolGuard guard;
    if (Error error = check_instance(guard, event_instance)) return error;
    tool::give(source_index, 0);
    return {};
}

}  // extern "C"

}  // namespace lanyard
