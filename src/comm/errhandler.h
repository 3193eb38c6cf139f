// An error handler states what happens when a call on an object fails (MPI-5.0 section 9.3). Error handlers
// belong to the process. The three predefined handlers exist forever. The function of a handler that the
// program has created is called through the ABI front end by which the handler was created. Handlers are
// immutable and count references. The program's handle holds a reference, and so do each object that uses the
// handler and each handle that MPI_x_get_errhandler has returned. Any thread.
// Tested by: tests/unit/comm/error_codes_test.cc, tests/mpi/errors/handlers.cc.
#pragma once

#include "base/object.h"
#include "base/pool.h"

namespace lanyard {

struct Door;  // api/door.h

// The kind of object that a handler or an attribute key is for.
enum class ObjectKind : uint8_t { comm, type, win, file, session };

struct Errhandler : Object {
    enum class Action : uint8_t { fatal, abort, give_back, call };
    Action action = Action::fatal;
    ObjectKind kind = ObjectKind::comm;  // used only if the handler has a function
    void (*function)() = nullptr;        // the program's function
    const Door *door = nullptr;
    // Calls `function` with the object (a Comm, Win, File or Session) and the error code, which the function
    // may change. The ABI front end sets this pointer together with `function`, so that this layer does not
    // depend on front ends.
    void (*call)(const Errhandler &handler, void *object, int &code) = nullptr;
};

ObjectPool<Errhandler> &errhandler_pool();
Errhandler &errors_are_fatal();
Errhandler &errors_abort();
Errhandler &errors_return();
void release_errhandler(Errhandler *handler);  // drops a reference; `handler` may be nullptr

// Stores `handler` in `place`, with a reference, and drops the reference to the previous handler.
void replace_errhandler(Errhandler *&place, Errhandler &handler);
// The handler in `place`, with a reference for the caller. Several threads may read a place and replace its
// contents.
Errhandler &hold_errhandler(Errhandler *const &place);

// Holds a reference to a handler while the handler is in use.
class KeptErrhandler {
public:
    explicit KeptErrhandler(Errhandler *const &place) : handler_(hold_errhandler(place)) {}
    ~KeptErrhandler() { release_errhandler(&handler_); }
    KeptErrhandler(const KeptErrhandler &) = delete;
    KeptErrhandler &operator=(const KeptErrhandler &) = delete;
    Errhandler &operator*() const { return handler_; }
    Errhandler *operator->() const { return &handler_; }

private:
    Errhandler &handler_;
};

}  // namespace lanyard
