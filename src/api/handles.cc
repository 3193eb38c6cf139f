// Defines and fills the tables of handles.h.
#include "api/handles.h"

#include "api/door.h"
#include "api/message.h"
#include "api/predefined_handles.h"
#include "api/request.h"
#include "base/no_memory.h"
#include "comm/errhandler.h"
#include "comm/info.h"
#include "comm/session.h"
#include "comm/universe.h"
#include "datatype/datatype.h"
#include "datatype/op.h"
#include "datatype/predefined.h"

lanyard::HandleTables lanyard_handles;

lanyard::Datatype *lanyard_null_datatype() {
    return lanyard::keeps_to_standard() ? nullptr : &lanyard::null_datatype();
}

namespace lanyard {

namespace {

template <class T>
void register_pool(const ObjectPool<T> &pool) {
    lanyard_handles.pool[HandleKind<T>::index] = pool.view();
}

void register_predefined(Object &object) { lanyard_handles.predefined[object.abi_value] = &object; }

// Fills in the objects that do not need a Universe: datatypes, operations, info objects, error handlers,
// requests, messages and sessions.
[[gnu::constructor]] void fill_process_tables() {
    end_where_new_fails("Lanyard", static_cast<int>(ErrorClass::no_mem));
    register_pool(datatype_pool());
    register_pool(op_pool());
    register_pool(info_pool());
    register_pool(errhandler_pool());
    register_pool(request_pool());
    register_pool(message_pool());
    register_pool(session_pool());
    for (uintptr_t value = HandleKind<Datatype>::null + 1; value <= HandleKind<Datatype>::last; ++value)
        lanyard_handles.predefined[value] = predefined_datatype(static_cast<int>(value));
    for (uintptr_t value = HandleKind<Op>::null + 1; value <= HandleKind<Op>::last; ++value)
        lanyard_handles.predefined[value] = predefined_op(static_cast<int>(value));
    for (Errhandler *handler : {&errors_are_fatal(), &errors_abort(), &errors_return()})
        register_predefined(*handler);
    Info *environment = new_info();
    if (!environment) end_without_memory();
    environment->abi_value = abi::info_env;  // MPI_Init sets its keys
    register_predefined(*environment);
    register_predefined(message_no_proc());
}

}  // namespace

void fill_handle_tables(Universe &universe) {
    register_pool(universe.comms);
    register_pool(universe.groups);
    register_predefined(*universe.empty_group);
}

void show_world(const Universe &universe, bool shown) {
    for (Comm *comm : {universe.world, universe.self})
        lanyard_handles.predefined[comm->abi_value] = shown ? comm : nullptr;
}

}  // namespace lanyard
