// Passes errors to their error handlers (MPI-5.0 section 9.3). Only this file does what an error handler
// prescribes. The front ends call raise() through fail(), without the engine, on the thread that called MPI.
// raise() may throw: an exception of the program's error handler, or an exception that another function of
// the program threw earlier (base/thrown.h). In the second case, no error handler is called.
#include "api/raise.h"

#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/activity.h"
#include "api/state.h"
#include "comm/error_codes.h"
#include "comm/session.h"
#include "runtime/runtime.h"

extern char **environ;

namespace lanyard {

namespace {

struct Handling {
    KeptErrhandler handler;
    RaiseOn on;
};

Handling handling_of(RaiseOn on, const ErrorRecord &record) {
    if (record.about) on = RaiseOn(static_cast<Comm *>(record.about.get()));
    switch (on.kind) {
        case RaiseOn::Kind::comm: return {KeptErrhandler(on.comm()->errhandler), on};
        case RaiseOn::Kind::session: return {KeptErrhandler(on.session()->errhandler), on};
        case RaiseOn::Kind::file: return {KeptErrhandler(handler_of(static_cast<File *>(on.object))), on};
        case RaiseOn::Kind::handler:  // unless the error is that this handler is invalid
            if (record.code != static_cast<int>(ErrorClass::errhandler))
                return {KeptErrhandler(static_cast<Errhandler *>(on.object)), RaiseOn(on.kind)};
            break;
        default: break;
    }
    if (world_state() != WorldState::active) return {KeptErrhandler(&initial_errhandler()), RaiseOn()};
    Comm *self = runtime()->universe->self;
    return {KeptErrhandler(self->errhandler), RaiseOn(self)};
}

}  // namespace

std::string here() {
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    Runtime *made = runtime();
    std::string rank = made && made->bootstrap ? " on rank " + std::to_string(made->bootstrap->rank()) : "";
    return rank + " (" + host + ")";
}

namespace {

// Ends the job, or only this process. MPI_ERRORS_ABORT on a session ends only this process, and the
// launcher decides what follows. On a communicator, MPI_ERRORS_ABORT acts like MPI_Abort, which
// ends the whole job (init.cc).
[[noreturn]] void stop_job(const Errhandler &handler, RaiseOn on, int code, const std::string &text) {
    bool abort = handler.action == Errhandler::Action::abort;
    bool alone = abort && on.kind == RaiseOn::Kind::session;
    std::string message = "Lanyard: " + text + "; " + (alone ? "the process" : "the job") +
                          " is aborted (error handler " +
                          (abort ? "MPI_ERRORS_ABORT" : "MPI_ERRORS_ARE_FATAL") + ")";
    int exit_code = meaning_of(code).error_class & 255;
    if (exit_code == 0) exit_code = 1;  // a code of the program itself can give 0 here
    Runtime *made = runtime();
    if (made && made->universe && !alone && in_use(lanyard_process_state.load()))
        made->universe->abort(*made->universe, exit_code, message, false);
    // This is reached if only this process is to end, or if MPI is not active.
    std::fprintf(stderr, "%s\n", message.c_str());
    std::fflush(nullptr);
    _exit(exit_code);
}

// The text that MPI_Error_string returns: the complete text if it fits, otherwise a text with neither the
// arguments of the call nor the place.
std::string kept_text(const std::string &call, const char *function, const std::string &sentence) {
    std::string text = call + here() + ": " + sentence;
    return text.size() < static_cast<size_t>(abi::max_error_string) ? text : function + (": " + sentence);
}

}  // namespace

int code_of(const ErrorRecord &record, const std::string &text) {
    // The code is not a standard class. For example, the program has created or returned it.
    if (record.code < 0 || record.code > static_cast<int>(ErrorClass::abi)) return record.code;
    auto error_class = static_cast<ErrorClass>(record.code);
    // programs compare this code with the class
    if (error_class == ErrorClass::in_status) return record.code;
    return code_of_failure(error_class, text);
}

Errhandler &initial_errhandler() {
    Settings read;
    std::vector<std::string> warnings;
    if (!runtime()) read_settings(environ, read, warnings).discard();
    const std::string &name = (runtime() ? runtime()->settings : read).initial_errhandler;
    if (name == "mpi_errors_return") return errors_return();
    return name == "mpi_errors_abort" ? errors_abort() : errors_are_fatal();
}

// MPI_ERRORS_RETURN is the default for files (MPI-5.0 14.7). No function creates files yet, so no file has
// a handler of its own.
Errhandler *&handler_of(File *file) {
    static Errhandler *of_files = &errors_return();
    LANYARD_MUST(file == nullptr);
    return of_files;
}

namespace {

void call_function(const Errhandler &handler, RaiseOn on, int &code) {
    if (on.kind != RaiseOn::Kind::comm) return handler.call(handler, on.object, code);
    Comm *comm = on.comm();
    comm->hold();  // the function may free the communicator
    std::unique_ptr<Comm, decltype(&release_comm)> held(comm, release_comm);
    HandleLent lent(*comm);
    handler.call(handler, comm, code);
}

}  // namespace

void call_handler(const Errhandler &handler, RaiseOn on, int &code, const std::string &text) {
    switch (handler.action) {
        case Errhandler::Action::fatal:
        case Errhandler::Action::abort: stop_job(handler, on, code, text);
        case Errhandler::Action::give_back: return;
        case Errhandler::Action::call: return call_function(handler, on, code);
    }
}

int raise(Error error, RaiseOn on, const Call &call) {
    ErrorRecord record = error.take();
    if (record.thrown) std::rethrow_exception(std::move(record.thrown));
    Handling handling = handling_of(on, record);
    std::string shown = call.text();
    int code = code_of(record, kept_text(shown, call.function, record.sentence));
    int told = record.reason ? record.reason : code;
    std::string text = shown + here() + ": " + record.sentence;
    if (handling.handler->action == Errhandler::Action::call) {
        // The program's function may leave by longjmp(), which runs no destructor.
        for (std::string *unused : {&shown, &text, &record.sentence}) std::string().swap(*unused);
    }
    call_handler(*handling.handler, handling.on, told, text);
    return record.reason ? code : told;
}

}  // namespace lanyard
