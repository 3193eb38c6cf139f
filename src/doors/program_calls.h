// Calls functions of the program for the core, in any ABI. The program's functions get handles, keyvals,
// error codes and statuses of their own ABI. Each front end's door.cc fills its `Door` (api/door.h) with the
// functions defined here.
// Tested by: tests/mpich_abi/crossing.cc, tests/third_abi/program.cc, tests/api/door_test.cc.
#pragma once

#include <algorithm>
#include <climits>

#include "doors/handles.h"
#include "doors/statuses.h"

namespace lanyard::doors {

template <class Abi>
struct ProgramCalls {
    using MPI_Comm = typename Abi::MPI_Comm;
    using MPI_Datatype = typename Abi::MPI_Datatype;
    using MPI_File = typename Abi::MPI_File;
    using MPI_Session = typename Abi::MPI_Session;
    using MPI_Status = typename Abi::MPI_Status;
    using MPI_Win = typename Abi::MPI_Win;
    using Registration = typename Abi::MPI_T_event_registration;
    using Safety = typename Abi::MPI_T_cb_safety;

    // Returns the program's function as a pointer of its real type.
    template <class ProgramFunction>
    static ProgramFunction *as(Function function) {
        return reinterpret_cast<ProgramFunction *>(function);
    }
    template <class Handle>
    static Handle handle_for(ObjectOf<Abi, Handle> *object) {
        return Abi::template handle_for<Handle>(object);
    }

    // If the vector is too long for an int count, a function with an int count is called for one piece
    // after the other. This is correct because the operation works element by element.
    static void call_op(Function function, bool large_count, const void *in, void *inout, int64_t count,
                        Datatype *datatype) {
        auto handle = handle_for<MPI_Datatype>(datatype);
        if (large_count) {
            int64_t length = count;
            return as<typename Abi::MPI_User_function_c>(function)(const_cast<void *>(in), inout, &length,
                                                                   &handle);
        }
        auto *from = static_cast<const char *>(in);
        auto *to = static_cast<char *>(inout);
        while (count > 0) {
            auto length = static_cast<int>(std::min<int64_t>(count, INT_MAX));
            int told = length;  // the function may overwrite its arguments
            MPI_Datatype given = handle;
            as<typename Abi::MPI_User_function>(function)(const_cast<char *>(from), to, &told, &given);
            from += length * datatype->extent;
            to += length * datatype->extent;
            count -= length;
        }
    }

    template <class ProgramFunction, class Handle>
    static int copy_attribute(Function function, ObjectOf<Abi, Handle> *object, int keyval, void *extra_state,
                              void *value, void *copy, int *flag) {
        auto handle = handle_for<Handle>(object);
        return Abi::error_code_in(
            as<ProgramFunction>(function)(handle, Abi::keyval_out(keyval), extra_state, value, copy, flag));
    }
    template <class ProgramFunction, class Handle>
    static int delete_attribute(Function function, ObjectOf<Abi, Handle> *object, int keyval, void *value,
                                void *extra_state) {
        auto handle = handle_for<Handle>(object);
        return Abi::error_code_in(
            as<ProgramFunction>(function)(handle, Abi::keyval_out(keyval), value, extra_state));
    }
    template <class ProgramFunction, class Handle>
    static void call_errhandler(Function function, ObjectOf<Abi, Handle> *object, int *code) {
        auto handle = handle_for<Handle>(object);
        int told = Abi::error_code_out(*code);
        as<ProgramFunction>(function)(&handle, &told);
        *code = Abi::error_code_in(told);
    }

    static int query_request(Function function, void *extra_state, Status *status) {
        auto *query = as<typename Abi::MPI_Grequest_query_function>(function);
        if constexpr (Abi::of_the_standard) {
            return query(extra_state, reinterpret_cast<MPI_Status *>(status));
        } else {
            MPI_Status shown{};
            transfer_to_program<Abi>(*status, shown);
            shown.MPI_ERROR = Abi::error_code_out(status->error);
            int code = query(extra_state, &shown);
            *status = from_program<Abi>(shown);
            status->error = Abi::error_code_in(shown.MPI_ERROR);
            return Abi::error_code_in(code);
        }
    }
    static int free_request(Function function, void *extra_state) {
        return Abi::error_code_in(as<typename Abi::MPI_Grequest_free_function>(function)(extra_state));
    }
    static int cancel_request(Function function, void *extra_state, int complete) {
        return Abi::error_code_in(
            as<typename Abi::MPI_Grequest_cancel_function>(function)(extra_state, complete));
    }

    static int datarep_extent(Function function, Datatype *datatype, int64_t *extent, void *extra_state) {
        auto handle = handle_for<MPI_Datatype>(datatype);
        return Abi::error_code_in(
            as<typename Abi::MPI_Datarep_extent_function>(function)(handle, extent, extra_state));
    }
    // If the function takes an int count, the caller passes no larger `count`.
    static int datarep_convert(Function function, bool large_count, void *user, Datatype *datatype,
                               int64_t count, void *file, int64_t position, void *extra_state) {
        auto handle = handle_for<MPI_Datatype>(datatype);
        if (large_count) {
            auto *convert = as<typename Abi::MPI_Datarep_conversion_function_c>(function);
            return Abi::error_code_in(convert(user, handle, count, file, position, extra_state));
        }
        auto *convert = as<typename Abi::MPI_Datarep_conversion_function>(function);
        return Abi::error_code_in(
            convert(user, handle, static_cast<int>(count), file, position, extra_state));
    }

    static Safety safety_out(int safety) { return static_cast<Safety>(Abi::cb_safety_out(safety)); }
    static void event(Function function, EventInstance *instance, EventRegistration *registration, int safety,
                      void *user_data) {
        as<typename Abi::MPI_T_event_cb_function>(function)(
            reinterpret_cast<typename Abi::MPI_T_event_instance>(instance),
            reinterpret_cast<Registration>(registration), safety_out(safety), user_data);
    }
    static void event_freed(Function function, EventRegistration *registration, int safety, void *user_data) {
        as<typename Abi::MPI_T_event_free_cb_function>(function)(reinterpret_cast<Registration>(registration),
                                                                 safety_out(safety), user_data);
    }
    static void events_dropped(Function function, int64_t count, EventRegistration *registration, int source,
                               int safety, void *user_data) {
        as<typename Abi::MPI_T_event_dropped_cb_function>(function)(
            count, reinterpret_cast<Registration>(registration), source, safety_out(safety), user_data);
    }
    static Comm *tool_comm(const void *handle) {
        return Abi::object_behind(*static_cast<const MPI_Comm *>(handle));
    }

    static constexpr Door door() {
        return {
            .library = Abi::library,
            .abi = Abi::title,
            .other_header = Abi::other_header,
            .advice = Abi::advice,
            .of_the_standard = Abi::of_the_standard,
            .call_op = call_op,
            .copy_comm_attribute = copy_attribute<typename Abi::MPI_Comm_copy_attr_function, MPI_Comm>,
            .delete_comm_attribute = delete_attribute<typename Abi::MPI_Comm_delete_attr_function, MPI_Comm>,
            .copy_type_attribute = copy_attribute<typename Abi::MPI_Type_copy_attr_function, MPI_Datatype>,
            .delete_type_attribute =
                delete_attribute<typename Abi::MPI_Type_delete_attr_function, MPI_Datatype>,
            .copy_win_attribute = copy_attribute<typename Abi::MPI_Win_copy_attr_function, MPI_Win>,
            .delete_win_attribute = delete_attribute<typename Abi::MPI_Win_delete_attr_function, MPI_Win>,
            .comm_error = call_errhandler<typename Abi::MPI_Comm_errhandler_function, MPI_Comm>,
            .session_error = call_errhandler<typename Abi::MPI_Session_errhandler_function, MPI_Session>,
            .win_error = call_errhandler<typename Abi::MPI_Win_errhandler_function, MPI_Win>,
            .file_error = call_errhandler<typename Abi::MPI_File_errhandler_function, MPI_File>,
            .query_request = query_request,
            .free_request = free_request,
            .cancel_request = cancel_request,
            .datarep_extent = datarep_extent,
            .datarep_convert = datarep_convert,
            .event = event,
            .event_freed = event_freed,
            .events_dropped = events_dropped,
            .tool_comm = tool_comm,
        };
    }
};

}  // namespace lanyard::doors
