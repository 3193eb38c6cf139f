// Defines the typed functions (types.h) of the tool information interface for performance variables (MPI-5.0
// section 15.3.7). Any thread.
// Tested by: tests/mpi/tool/pvars.cc.
#include <cstdint>

#include "api/generated/core.h"
#include "api/tool.h"
#include "datatype/predefined.h"
#include "tool/pvar.h"

namespace lanyard {

namespace {

bool all_handles(const PvarHandle *handle) {
    return reinterpret_cast<uintptr_t>(handle) == static_cast<uintptr_t>(abi::t_pvar_all_handles);
}

// Checks that the interface is in use, the session is valid, and the handle belongs to the session.
Error check_handle(const ToolGuard &guard, const PvarSession *session, const PvarHandle *handle) {
    if (Error error = guard.check()) return error;
    if (Error error = tool::find_pvar_session(session)) return error;
    return tool::find_pvar_handle(*session, handle);
}

// Applies `act` to the handle or, for MPI_T_PVAR_ALL_HANDLES, to all handles of the session that are not
// continuous. `refused`: the error code if the single handle is continuous.
Error act_on(PvarSession *session, PvarHandle *handle, void (*act)(PvarHandle &), int refused) {
    ToolGuard guard;
    if (!all_handles(handle)) {
        if (Error error = check_handle(guard, session, handle)) return error;
        if (handle->variable->is_continuous())
            return tool::failure(
                refused, std::string(handle->variable->name) + " is always started and can only be read");
        act(*handle);
        return {};
    }
    if (Error error = guard.check()) return error;
    if (Error error = tool::find_pvar_session(session)) return error;
    for (PvarHandle *each : session->handles)
        if (!each->variable->is_continuous()) act(*each);
    return {};
}

}  // namespace

extern "C" {

Error lanyard_t_pvar_get_num(int *num_pvar) {
    ToolGuard guard;
    if (Error error = guard.check()) return error;
    tool::give(num_pvar, tool::pvars().size());
    return {};
}

Error lanyard_t_pvar_get_info(int pvar_index, char *name, int *name_len, int *verbosity, int *var_class,
                              Datatype **datatype, ToolEnum **enumtype, char *desc, int *desc_len, int *bind,
                              int *readonly, int *continuous, int *atomic) {
    ToolGuard guard;
    if (Error error = guard.check()) return error;
    if (Error error = check_index(tool::pvars(), pvar_index)) return error;
    const tool::Pvar &row = tool::pvars()[static_cast<size_t>(pvar_index)];
    tool::give_text(row.name, name, name_len);
    tool::give_text(row.sentence, desc, desc_len);
    tool::give(verbosity, row.verbosity);
    tool::give(var_class, row.pvar_class);
    if (datatype) *datatype = predefined_datatype(row.datatype);
    if (enumtype) *enumtype = const_cast<ToolEnum *>(row.enumeration);
    tool::give(bind, row.of_comm ? abi::t_bind_mpi_comm : abi::t_bind_no_object);
    tool::give(readonly, row.is_continuous());
    tool::give(continuous, row.is_continuous());
    tool::give(atomic, !row.is_continuous());
    return {};
}

Error lanyard_t_pvar_get_index(const char *name, int var_class, int *pvar_index) {
    ToolGuard guard;
    int found = -1;
    if (Error error = guard.check()) return error;
    if (Error error = find_name(tool::pvars(), name, &found)) return error;
    if (tool::pvars()[static_cast<size_t>(found)].pvar_class != var_class)
        return tool::failure(abi::t_err_invalid_name, std::string(name) + " is of another class");
    tool::give(pvar_index, found);
    return {};
}

Error lanyard_t_pvar_session_create(PvarSession **session) {
    ToolGuard guard;
    if (Error error = guard.check()) return error;
    if (Error error = check_place(session)) return error;
    return tool::make_pvar_session(*session);
}

Error lanyard_t_pvar_session_free(PvarSession **session) {
    ToolGuard guard;
    if (Error error = guard.check()) return error;
    if (Error error = check_place(session)) return error;
    if (Error error = tool::find_pvar_session(*session)) return error;
    tool::free_pvar_session(*session);
    *session = nullptr;
    return {};
}

Error lanyard_t_pvar_handle_alloc(PvarSession *session, int pvar_index, ToolObject obj_handle,
                                  PvarHandle **handle, int *count) {
    ToolGuard guard;
    tool::Bound bound;
    if (Error error = guard.check()) return error;
    if (Error error = tool::find_pvar_session(session)) return error;
    if (Error error = check_index(tool::pvars(), pvar_index)) return error;
    if (Error error = check_place(handle)) return error;
    const tool::Pvar &row = tool::pvars()[static_cast<size_t>(pvar_index)];
    if (Error error = find_bound(row.of_comm, obj_handle, bound)) return error;
    if (Error error = tool::make_pvar_handle(*session, row, bound, *handle)) return error;
    tool::give(count, (*handle)->values);
    return {};
}

Error lanyard_t_pvar_handle_free(PvarSession *session, PvarHandle **handle) {
    ToolGuard guard;
    if (Error error = check_place(handle)) return error;
    if (Error error = check_handle(guard, session, *handle)) return error;
    tool::free_pvar_handle(*handle);
    *handle = nullptr;
    return {};
}

Error lanyard_t_pvar_start(PvarSession *session, PvarHandle *handle) {
    return act_on(session, handle, tool::start_pvar, abi::t_err_pvar_no_startstop);
}
Error lanyard_t_pvar_stop(PvarSession *session, PvarHandle *handle) {
    return act_on(session, handle, tool::stop_pvar, abi::t_err_pvar_no_startstop);
}
Error lanyard_t_pvar_reset(PvarSession *session, PvarHandle *handle) {
    return act_on(session, handle, tool::reset_pvar, abi::t_err_pvar_no_write);
}

Error lanyard_t_pvar_read(PvarSession *session, PvarHandle *handle, void *buf) {
    ToolGuard guard;
    if (Error error = check_handle(guard, session, handle)) return error;
    if (Error error = check_place(buf)) return error;
    tool::read_pvar(*handle, buf);
    return {};
}

Error lanyard_t_pvar_readreset(PvarSession *session, PvarHandle *handle, void *buf) {
    ToolGuard guard;
    if (Error error = check_handle(guard, session, handle)) return error;
    if (Error error = check_place(buf)) return error;
    if (handle->variable->is_continuous())
        return tool::failure(abi::t_err_pvar_no_atomic,
                             std::string(handle->variable->name) + " can only be read");
    tool::read_and_reset_pvar(*handle, buf);
    return {};
}

Error lanyard_t_pvar_write(PvarSession *session, PvarHandle *handle, const void *buf) {
    ToolGuard guard;
    if (Error error = check_handle(guard, session, handle)) return error;
    if (Error error = check_place(buf)) return error;
    if (handle->variable->is_continuous())
        return tool::failure(abi::t_err_pvar_no_write,
                             std::string(handle->variable->name) + " can only be read");
    tool::write_pvar(*handle, buf);
    return {};
}

}  // extern "C"

}  // namespace lanyard
