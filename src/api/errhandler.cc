// Error handlers (MPI-5.0 section 9.3): the typed functions, for communicators.
#include "api/door.h"
#include "api/generated/core.h"
#include "api/raise.h"
#include "comm/comm.h"

namespace lanyard {

namespace {

void call_for_comm(const Errhandler &handler, void *object, int &code) {
    handler.door->comm_error(handler.function, static_cast<Comm *>(object), &code);
}

}  // namespace

extern "C" {

Error lanyard_comm_create_errhandler(Callback comm_errhandler_fn, Errhandler **errhandler) {
    if (!comm_errhandler_fn.function) return Error(ErrorClass::arg, "the function of the error handler is NULL");
    Errhandler *made = errhandler_pool().create();
    if (!made) return Error(ErrorClass::no_mem, "there is no memory left for another error handler");
    made->action = Errhandler::Action::call;
    made->kind = ObjectKind::comm;
    made->function = comm_errhandler_fn.function;
    made->door = comm_errhandler_fn.door;
    made->call = call_for_comm;
    *errhandler = made;
    return {};
}

Error lanyard_comm_get_errhandler(Comm &comm, Errhandler **errhandler) {
    if (!comm.errhandler->predefined()) comm.errhandler->hold();
    *errhandler = comm.errhandler;
    return {};
}

Error lanyard_comm_set_errhandler(Comm &comm, Errhandler &errhandler) {
    if (errhandler.action == Errhandler::Action::call && errhandler.kind != ObjectKind::comm)
        return Error(ErrorClass::errhandler, "the error handler was made for another kind of object, not for communicators");
    replace_errhandler(comm.errhandler, errhandler);
    return {};
}

Error lanyard_comm_call_errhandler(Comm &comm, int errorcode) {
    int code = errorcode;
    if (code == abi::success && comm.errhandler->action != Errhandler::Action::call) return {};
    call_handler(*comm.errhandler, &comm, code, "MPI_Comm_call_errhandler was called with error code " + std::to_string(errorcode));
    return {};
}

Error lanyard_errhandler_free(Errhandler *&errhandler) {
    release_errhandler(errhandler);
    errhandler = nullptr;
    return {};
}

}  // extern "C"

}  // namespace lanyard
