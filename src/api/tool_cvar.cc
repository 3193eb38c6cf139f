// Defines the typed functions (types.h) of the tool information interface for control variables (MPI-5.0
// section 15.3.6). Any thread.
// Tested by: tests/mpi/tool/cvars.cc.
#include "api/generated/core.h"
#include "api/tool.h"
#include "datatype/predefined.h"
#include "tool/cvar.h"

namespace lanyard {

extern "C" {

Error lanyard_t_cvar_get_num(int *num_cvar) {
    ToolGuard guard;
    if (Error error = guard.check()) return error;
    tool::give(num_cvar, tool::cvars().size());
    return {};
}

Error lanyard_t_cvar_get_info(int cvar_index, char *name, int *name_len, int *verbosity, Datatype **datatype,
                              ToolEnum **enumtype, char *desc, int *desc_len, int *bind, int *scope) {
    ToolGuard guard;
    if (Error error = guard.check()) return error;
    if (Error error = check_index(tool::cvars(), cvar_index)) return error;
    const tool::Cvar &variable = tool::cvars()[static_cast<size_t>(cvar_index)];
    tool::give_text(variable.name, name, name_len);
    tool::give_text(variable.sentence, desc, desc_len);
    tool::give(verbosity, variable.verbosity);
    tool::give(bind, variable.bind);
    tool::give(scope, variable.scope);
    if (datatype) *datatype = predefined_datatype(variable.datatype);
    if (enumtype) *enumtype = const_cast<ToolEnum *>(variable.enumeration);
    return {};
}

Error lanyard_t_cvar_get_index(const char *name, int *cvar_index) {
    ToolGuard guard;
    if (Error error = guard.check()) return error;
    return find_name(tool::cvars(), name, cvar_index);
}

Error lanyard_t_cvar_handle_alloc(int cvar_index, ToolObject obj_handle, CvarHandle **handle, int *count) {
    ToolGuard guard;
    tool::Bound bound;
    CvarHandle *made = nullptr;
    if (Error error = guard.check()) return error;
    if (Error error = check_index(tool::cvars(), cvar_index)) return error;
    if (Error error = check_place(handle)) return error;
    const tool::Cvar &variable = tool::cvars()[static_cast<size_t>(cvar_index)];
    if (Error error = find_bound(variable.bind == abi::t_bind_mpi_comm, obj_handle, bound)) return error;
    if (Error error = tool::make_cvar_handle(variable, bound, made)) return error;
    *handle = made;
    tool::give(count, made->count);
    return {};
}

Error lanyard_t_cvar_handle_free(CvarHandle **handle) {
    ToolGuard guard;
    if (Error error = guard.check()) return error;
    if (Error error = check_place(handle)) return error;
    if (Error error = tool::find_cvar_handle(*handle)) return error;
    tool::free_cvar_handle(*handle);
    *handle = nullptr;
    return {};
}

Error lanyard_t_cvar_read(CvarHandle *handle, void *buf) {
    ToolGuard guard;
    if (Error error = guard.check()) return error;
    if (Error error = tool::find_cvar_handle(handle)) return error;
    if (Error error = check_place(buf)) return error;
    return tool::read_cvar(*handle, buf);
}

Error lanyard_t_cvar_write(CvarHandle *handle, const void *buf) {
    ToolGuard guard;
    if (Error error = guard.check()) return error;
    if (Error error = tool::find_cvar_handle(handle)) return error;
    if (Error error = check_place(buf)) return error;
    return tool::write_cvar(*handle, buf);
}

}  // extern "C"

}  // namespace lanyard
