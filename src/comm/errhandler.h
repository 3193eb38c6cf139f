// Error handlers: what happens when a call on an object fails. The three predefined ones live for ever; the program's
// own call its function through the door it came by. They belong to the process. Immutable and counted: the handle, each
// object that uses one and each MPI_x_get_errhandler hold a reference. MPI-5.0 section 9.3.
#pragma once

#include "base/object.h"
#include "base/pool.h"

namespace lanyard {

struct Door;  // api/door.h

// What a handler or an attribute key is for.
enum class ObjectKind : uint8_t { comm, type, win, file, session };

struct Errhandler : Object {
    enum class Action : uint8_t { fatal, abort, give_back, call };
    Action action = Action::fatal;
    ObjectKind kind = ObjectKind::comm;  // of a handler with a function
    void (*function)() = nullptr;        // the program's
    const Door *door = nullptr;
    // Calls `function` with the object (a Comm, Win, File or Session) and the code, which it may change; set together
    // with it, so that this layer need not know doors.
    void (*call)(const Errhandler &handler, void *object, int &code) = nullptr;
};

ObjectPool<Errhandler> &errhandler_pool();
Errhandler &errors_are_fatal();
Errhandler &errors_abort();
Errhandler &errors_return();
void release_errhandler(Errhandler *handler);  // nullptr is allowed

// Puts `handler` in `place`, with a reference, and gives back the reference to what was there.
void replace_errhandler(Errhandler *&place, Errhandler &handler);
// What is in `place`, with a reference for the caller. Several threads may look at a place and replace what is there.
Errhandler &hold_errhandler(Errhandler *const &place);

// A reference for as long as a handler is used.
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
