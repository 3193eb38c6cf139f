// A Call describes a failed call of an MPI function: the function's name and the arguments that the program
// passed, so that the error message can show both. Once something is wrong, fail() creates a Call on the
// stack from what the ABI front end has passed, and raise() reads it.
// Tested by: tests/api/door_test.cc, tests/failures/test_arguments.py.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "api/types.h"
#include "base/error.h"

namespace lanyard {

// One argument, and how the error message shows it.
struct Argument {
    enum class Form : uint8_t { number, rank, tag, pointer, buffer, text, handle };

    const char *name = nullptr;
    Form form = Form::number;
    int object_kind = 0;  // for a handle: the standard's value of the null handle of its kind
    int64_t number = 0;   // the value, or the bits of a pointer or handle
};

inline Argument shown(const char *name, int64_t number) { return {name, Argument::Form::number, 0, number}; }
inline Argument shown_rank(const char *name, int rank) { return {name, Argument::Form::rank, 0, rank}; }
inline Argument shown_tag(const char *name, int tag) { return {name, Argument::Form::tag, 0, tag}; }
inline Argument shown(const char *name, const void *pointer) {
    return {name, Argument::Form::pointer, 0, reinterpret_cast<int64_t>(pointer)};
}
inline Argument shown_buffer(const char *name, const void *address) {
    return {name, Argument::Form::buffer, 0, reinterpret_cast<int64_t>(address)};
}
inline Argument shown_text(const char *name, const char *text) {
    return {name, Argument::Form::text, 0, reinterpret_cast<int64_t>(text)};
}

// The object whose error handler is called.
struct RaiseOn {
    enum class Kind : uint8_t { self, comm, win, file, session, handler, none };

    // `self`: the handler of MPI_COMM_SELF (MPI-5.0 9.3), or initial_errhandler() before MPI_Init and after
    // MPI_Finalize. `handler`: the error handler that the program passed for an object that the call was to
    // create. `none`: no handler is called; the function only returns the code.
    Kind kind = Kind::self;
    int bad_argument = 0;  // for `none`: the code returned for any error that the front end's own checks find
    void *object = nullptr;

    constexpr RaiseOn() = default;
    constexpr explicit RaiseOn(Kind only) : kind(only) {}
    static constexpr RaiseOn nothing(int bad_argument) {
        RaiseOn on;
        on.kind = Kind::none;
        on.bad_argument = bad_argument;
        return on;
    }
    RaiseOn(Comm *comm) : kind(comm ? Kind::comm : Kind::self), object(comm) {}
    RaiseOn(Win *win) : kind(win ? Kind::win : Kind::self), object(win) {}
    RaiseOn(File *file) : kind(Kind::file), object(file) {}  // nullptr: the handler of MPI_FILE_NULL
    RaiseOn(Errhandler *handler) : kind(handler ? Kind::handler : Kind::self), object(handler) {}
    RaiseOn(Session *session) : kind(session ? Kind::session : Kind::self), object(session) {}

    Comm *comm() const { return kind == Kind::comm ? static_cast<Comm *>(object) : nullptr; }
    Session *session() const { return kind == Kind::session ? static_cast<Session *>(object) : nullptr; }
};

struct Call {
    const char *function;
    std::initializer_list<Argument> arguments;

    // "MPI_Send(buf=0x7ffd..., count=3, datatype=MPI_INT, dest=9, tag=0, comm=MPI_COMM_WORLD)"
    std::string text() const;
};

// The name of a predefined handle ("MPI_COMM_WORLD"), or nullptr.
const char *predefined_handle_name(int abi_value);

// Consumes the error, calls the object's error handler (raise.cc), and returns the code for the program. May
// throw an exception of a function of the program.
int raise(Error error, RaiseOn on, const Call &call);

// Handles an error for an entry point, and returns the code for the program as the library's value. The ABI
// front ends call this function, without the engine. It may throw as raise() does.
[[gnu::cold, gnu::visibility("default")]] int fail(Error error, RaiseOn on, const char *function,
    std::initializer_list<Argument> arguments);

}  // namespace lanyard
