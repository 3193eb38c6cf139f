// Errors meet their error handler here (MPI-5.0 section 9.3): the only place that aborts a job for an error, returns its
// code, or calls the program's function. Called by the doors, without the engine, on the thread that made the call.
#include "api/raise.h"

#include <unistd.h>

#include <cstdio>

#include "api/runtime.h"
#include "api/state.h"
#include "comm/error_codes.h"

namespace lanyard {

namespace {

struct Handling {
    Errhandler *handler;
    void *object;
};

Handling handling_of(RaiseOn on, void *about) {
    if (about) return {static_cast<Comm *>(about)->errhandler, about};
    if (on.kind == RaiseOn::Kind::comm) return {on.comm()->errhandler, on.object};
    if (on.kind == RaiseOn::Kind::file) return {&errors_return(), on.object};  // the default of files (MPI-5.0 14.7)
    Runtime *made = runtime();
    bool active = lanyard_process_state.load() == ProcessState::active;
    if (active && made && made->universe && made->universe->self) return {made->universe->self->errhandler, made->universe->self};
    return {&errors_are_fatal(), nullptr};
}

std::string here() {
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    Runtime *made = runtime();
    std::string rank = made && made->bootstrap ? " on rank " + std::to_string(made->bootstrap->rank()) : "";
    return rank + " (" + host + ")";
}

[[noreturn]] void stop_job(const Errhandler &handler, int code, const std::string &text) {
    const char *name = handler.action == Errhandler::Action::abort ? "MPI_ERRORS_ABORT" : "MPI_ERRORS_ARE_FATAL";
    std::string message = "Lanyard: " + text + "; the job is aborted (error handler " + name + ")";
    int exit_code = meaning_of(code).error_class & 255;
    Runtime *made = runtime();
    if (made && made->universe && lanyard_process_state.load() == ProcessState::active)
        made->universe->abort(*made->universe, exit_code, message);
    // MPI is not active: no launcher waits for this process as a rank, so it ends alone.
    std::fprintf(stderr, "%s\n", message.c_str());
    std::fflush(nullptr);
    _exit(exit_code ? exit_code : 1);
}

// What MPI_Error_string gives: all of it where that fits, else without the arguments.
std::string kept_text(const std::string &call, const char *function, const std::string &sentence) {
    std::string text = call + here() + ": " + sentence;
    return text.size() < static_cast<size_t>(abi::max_error_string) ? text : function + (": " + sentence);
}

}  // namespace

int code_of(const ErrorRecord &record, const std::string &text) {
    if (record.code < 0 || record.code > static_cast<int>(ErrorClass::abi)) return record.code;  // the program's own code
    auto error_class = static_cast<ErrorClass>(record.code);
    if (error_class == ErrorClass::in_status) return record.code;  // programs compare it with the class
    return code_of_failure(error_class, text);
}

void call_handler(const Errhandler &handler, void *object, int &code, const std::string &text) {
    switch (handler.action) {
        case Errhandler::Action::fatal:
        case Errhandler::Action::abort: stop_job(handler, code, text);
        case Errhandler::Action::give_back: return;
        case Errhandler::Action::call: return handler.call(handler, object, code);
    }
}

int raise(Error error, RaiseOn on, const Call &call) {
    ErrorRecord record = error.take();
    Handling handling = handling_of(on, record.about);
    std::string shown = call.text();
    int code = code_of(record, kept_text(shown, call.function, record.sentence));
    call_handler(*handling.handler, handling.object, code, shown + here() + ": " + record.sentence);
    return code;
}

}  // namespace lanyard
