// How the core calls the program's functions through libmpi.so.12: with the handles, keyvals, error codes and statuses of the MPICH ABI.
#include <algorithm>
#include <climits>

#include "doors/mpich_abi/convert.h"

namespace lanyard::mpich_abi {

namespace {

// The program's function with its own type.
template <class MpiFunction>
MpiFunction *as(Function function) {
    return reinterpret_cast<MpiFunction *>(function);
}

// A function with int counts gets a longer vector in pieces: the operation is element by element.
void call_op(Function function, bool large_count, const void *in, void *inout, int64_t count, Datatype *datatype) {
    auto handle = handle_for<MPI_Datatype>(datatype);
    if (large_count) {
        MPI_Count length = count;
        return as<MPI_User_function_c>(function)(const_cast<void *>(in), inout, &length, &handle);
    }
    auto *from = static_cast<const char *>(in);
    auto *to = static_cast<char *>(inout);
    while (count > 0) {
        auto length = static_cast<int>(std::min<int64_t>(count, INT_MAX));
        int told = length;  // the function may overwrite what it is given
        MPI_Datatype given = handle;
        as<MPI_User_function>(function)(const_cast<char *>(from), to, &told, &given);
        from += length * datatype->extent;
        to += length * datatype->extent;
        count -= length;
    }
}

template <class MpiFunction, class MpiHandle>
int copy_attribute(Function function, ObjectOf<MpiHandle> *object, int keyval, void *extra_state, void *value, void *copy, int *flag) {
    return error_code_in(as<MpiFunction>(function)(handle_for<MpiHandle>(object), keyval_out(keyval), extra_state, value, copy, flag));
}

template <class MpiFunction, class MpiHandle>
int delete_attribute(Function function, ObjectOf<MpiHandle> *object, int keyval, void *value, void *extra_state) {
    return error_code_in(as<MpiFunction>(function)(handle_for<MpiHandle>(object), keyval_out(keyval), value, extra_state));
}

template <class MpiFunction, class MpiHandle>
void call_errhandler(Function function, ObjectOf<MpiHandle> *object, int *code) {
    auto handle = handle_for<MpiHandle>(object);
    int told = error_code_out(*code);
    as<MpiFunction>(function)(&handle, &told);
    *code = error_code_in(told);
}

int query_request(Function function, void *extra_state, Status *status) {
    MPI_Status shown{};
    transfer_to_program(*status, shown);
    shown.MPI_ERROR = error_code_out(status->error);
    int code = as<MPI_Grequest_query_function>(function)(extra_state, &shown);
    *status = from_program(shown);
    status->error = error_code_in(shown.MPI_ERROR);
    return error_code_in(code);
}
int free_request(Function function, void *extra_state) { return error_code_in(as<MPI_Grequest_free_function>(function)(extra_state)); }
int cancel_request(Function function, void *extra_state, int complete) {
    return error_code_in(as<MPI_Grequest_cancel_function>(function)(extra_state, complete));
}

int datarep_extent(Function function, Datatype *datatype, int64_t *extent, void *extra_state) {
    return error_code_in(as<MPI_Datarep_extent_function>(function)(handle_for<MPI_Datatype>(datatype), extent, extra_state));
}
// The caller keeps `count` within int where the function has no large counts.
int datarep_convert(Function function, bool large_count, void *user, Datatype *datatype, int64_t count, void *file, int64_t position,
    void *extra_state) {
    auto handle = handle_for<MPI_Datatype>(datatype);
    if (large_count) return error_code_in(as<MPI_Datarep_conversion_function_c>(function)(user, handle, count, file, position, extra_state));
    return error_code_in(as<MPI_Datarep_conversion_function>(function)(user, handle, static_cast<int>(count), file, position, extra_state));
}

void event(Function function, EventInstance *instance, EventRegistration *registration, int safety, void *user_data) {
    as<MPI_T_event_cb_function>(function)(reinterpret_cast<MPI_T_event_instance>(instance),
        reinterpret_cast<MPI_T_event_registration>(registration), cb_safety_out(safety), user_data);
}
void event_freed(Function function, EventRegistration *registration, int safety, void *user_data) {
    as<MPI_T_event_free_cb_function>(function)(reinterpret_cast<MPI_T_event_registration>(registration), cb_safety_out(safety), user_data);
}
void events_dropped(Function function, int64_t count, EventRegistration *registration, int source, int safety, void *user_data) {
    as<MPI_T_event_dropped_cb_function>(function)(count, reinterpret_cast<MPI_T_event_registration>(registration), source,
        cb_safety_out(safety), user_data);
}
Comm *tool_comm(const void *handle) { return object_behind(*static_cast<const MPI_Comm *>(handle)); }

}  // namespace

const Door door = {
    .library = "libmpi.so.12",
    .abi = "the ABI of MPICH and Intel MPI",
    .strangers = "the mpi.h of the MPI-5.0 standard's ABI, such as Lanyard's",
    .advice = "link it with -lmpi_abi, as Lanyard's mpicc does, and let nothing (LD_PRELOAD) load libmpi.so.12 "
              "before",
    .of_the_standard = false,
    .call_op = call_op,
    .copy_comm_attribute = copy_attribute<MPI_Comm_copy_attr_function, MPI_Comm>,
    .delete_comm_attribute = delete_attribute<MPI_Comm_delete_attr_function, MPI_Comm>,
    .copy_type_attribute = copy_attribute<MPI_Type_copy_attr_function, MPI_Datatype>,
    .delete_type_attribute = delete_attribute<MPI_Type_delete_attr_function, MPI_Datatype>,
    .copy_win_attribute = copy_attribute<MPI_Win_copy_attr_function, MPI_Win>,
    .delete_win_attribute = delete_attribute<MPI_Win_delete_attr_function, MPI_Win>,
    .comm_error = call_errhandler<MPI_Comm_errhandler_function, MPI_Comm>,
    .session_error = call_errhandler<MPI_Session_errhandler_function, MPI_Session>,
    .win_error = call_errhandler<MPI_Win_errhandler_function, MPI_Win>,
    .file_error = call_errhandler<MPI_File_errhandler_function, MPI_File>,
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

int fail_translated(Error error, RaiseOn on, const char *function, std::initializer_list<Argument> arguments) {
    return error_code_out(fail(error, on, function, arguments));
}

}  // namespace lanyard::mpich_abi
