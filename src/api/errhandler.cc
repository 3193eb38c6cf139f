// Defines the typed functions (types.h) of error handlers (MPI-5.0 section 9.3). Any thread.
// Tested by: tests/mpi/errors/handlers.cc, tests/mpi/errors/thrown.cc.
#include "api/door.h"
#include "api/generated/core.h"
#include "api/raise.h"
#include "comm/comm.h"
#include "comm/error_codes.h"
#include "comm/session.h"

namespace lanyard {

namespace {

// Calls the program's function through its front end, for one kind of object.
template <class Object, auto caller>
void call_through_door(const Errhandler &handler, void *object, int &code) {
    (handler.door->*caller)(handler.function, static_cast<Object *>(object), &code);
}

using CallsFunction = void (*)(const Errhandler &, void *, int &);

Error make_errhandler(ObjectKind kind, const Callback &given, CallsFunction call, Errhandler **errhandler) {
    if (!given.function) return Error(ErrorClass::arg, "the function of the error handler is NULL");
    Errhandler *made = errhandler_pool().create();
    if (!made) return Error(ErrorClass::no_mem, "there is no memory left for another error handler");
    made->action = Errhandler::Action::call;
    made->kind = kind;
    made->function = given.function;
    made->door = given.door;
    made->call = call;
    *errhandler = made;
    return {};
}

Error give(Errhandler *const &of_object, Errhandler **errhandler) {
    *errhandler = &hold_errhandler(of_object);
    (*errhandler)->add_handle();
    return {};
}

Error set(Errhandler *&of_object, Errhandler &errhandler, ObjectKind kind, const char *objects) {
    if (errhandler.action == Errhandler::Action::call && errhandler.kind != kind)
        return Error(
            ErrorClass::errhandler,
            std::string("the error handler was made for another kind of object, not for ") + objects);
    replace_errhandler(of_object, errhandler);
    return {};
}

void call(const Errhandler &handler, RaiseOn on, const char *function, int errorcode) {
    int code = errorcode;
    if (code == abi::success && handler.action != Errhandler::Action::call) return;
    CodeMeaning meaning = meaning_of(errorcode);
    std::string text = function + here() + ": called with error code " + std::to_string(errorcode);
    if (!meaning.known) text += ", which has no meaning";
    else if (meaning.has_text) text += ": " + meaning.text;
    call_handler(handler, on, code, text);
}

}  // namespace

extern "C" {

Error lanyard_comm_create_errhandler(Callback comm_errhandler_fn, Errhandler **errhandler) {
    return make_errhandler(ObjectKind::comm, comm_errhandler_fn, call_through_door<Comm, &Door::comm_error>,
                           errhandler);
}

Error lanyard_comm_get_errhandler(Comm &comm, Errhandler **errhandler) {
    return give(comm.errhandler, errhandler);
}

Error lanyard_comm_set_errhandler(Comm &comm, Errhandler &errhandler) {
    return set(comm.errhandler, errhandler, ObjectKind::comm, "communicators");
}

Error lanyard_comm_call_errhandler(Comm &comm, int errorcode) {
    call(*KeptErrhandler(comm.errhandler), &comm, "MPI_Comm_call_errhandler", errorcode);
    return {};
}

Error lanyard_session_create_errhandler(Callback session_errhandler_fn, Errhandler **errhandler) {
    return make_errhandler(ObjectKind::session, session_errhandler_fn,
                           call_through_door<Session, &Door::session_error>, errhandler);
}

Error lanyard_session_get_errhandler(Session &session, Errhandler **errhandler) {
    return give(session.errhandler, errhandler);
}

Error lanyard_session_set_errhandler(Session &session, Errhandler &errhandler) {
    return set(session.errhandler, errhandler, ObjectKind::session, "sessions");
}

Error lanyard_session_call_errhandler(Session &session, int errorcode) {
    call(*KeptErrhandler(session.errhandler), &session, "MPI_Session_call_errhandler", errorcode);
    return {};
}

// Windows are not implemented yet, but their error handlers can be created.
Error lanyard_win_create_errhandler(Callback win_errhandler_fn, Errhandler **errhandler) {
    return make_errhandler(ObjectKind::win, win_errhandler_fn, call_through_door<Win, &Door::win_error>,
                           errhandler);
}

Error lanyard_file_create_errhandler(Callback file_errhandler_fn, Errhandler **errhandler) {
    return make_errhandler(ObjectKind::file, file_errhandler_fn, call_through_door<File, &Door::file_error>,
                           errhandler);
}

// MPI_FILE_NULL stands for the handler that new files begin with.
Error lanyard_file_get_errhandler(File *file, Errhandler **errhandler) {
    return give(handler_of(file), errhandler);
}

Error lanyard_file_set_errhandler(File *file, Errhandler &errhandler) {
    return set(handler_of(file), errhandler, ObjectKind::file, "files");
}

Error lanyard_file_call_errhandler(File *fh, int errorcode) {
    call(*KeptErrhandler(handler_of(fh)), fh, "MPI_File_call_errhandler", errorcode);
    return {};
}

Error lanyard_errhandler_free(Errhandler *&errhandler) {
    errhandler->end_handle();
    release_errhandler(errhandler);
    errhandler = nullptr;
    return {};
}

}  // extern "C"

}  // namespace lanyard
