// Functions of the program (reduction operations, attribute functions, functions of generalised requests) may
// throw. The rule: an exception that such a function throws is caught and becomes an Error like any other.
// Where the front end would raise that Error (api/raise.cc), the exception is thrown again. So the exception
// leaves the MPI call that would report the error. The library has then cleaned up as after any error, and no
// function of the library is unwound in the middle. In a reduction, other ranks still receive their messages.
// The call that completes the reduction throws, in the thread that makes this call. Error handlers need none
// of this: nothing is under way when they are called, so their exceptions pass through raise() unchanged.
//
// The C++ runtime in this library is hidden, so the program may have another C++ runtime. The two runtimes
// share the unwinder (libgcc_s) and agree on the layout of an exception in memory. So this library's runtime
// can keep an exception and throw it again, and the program's runtime can catch it. Exceptions of other
// languages and of libc++ cannot be kept; only the Error remains. While an exception is kept, the program's
// runtime counts it as under way (std::uncaught_exceptions) in the thread that threw it. If another thread
// completes the operation, or the operation is never completed, this count stays too high for ever.
//
// A thread that ends inside such a function (pthread_exit, pthread_cancel) unwinds its stack, too. This
// cannot be prevented.
#pragma once

#include <cxxabi.h>

#include "base/error.h"

namespace lanyard {

// Prepares the library's unwinder. Must be called before any function of the program is called. A program may
// contain an unwinder of its own (-static-libgcc), which queries the library's unwinder about the library's
// frames. The library's unwinder answers such queries only after it has been used once.
void ready_unwinder();
// Called within catch (...): returns the caught exception as an Error. `function` names the function that
// threw, as in "the program's delete function for attribute key 7".
[[gnu::cold]] Error caught(const std::string &function);
// Stops the process because `function` has ended its thread in the middle of an operation of the library.
[[noreturn, gnu::cold]] void stop_for_ended_thread(const char *function);
// Stops the process because no MPI call could report the caught exception. Takes over the Error.
[[noreturn, gnu::cold]] void stop_for_thrown(Error caught);

// Calls a function of the program at a point where an exception can be reported and the thread may end.
// `name` returns the text for caught(). (The end of a thread is caught as a null reference, which a sanitizer
// would report.)
template <class Name, class Call>
__attribute__((no_sanitize("null"))) Error catching(Name name, Call call) {
    try {
        return call();
    } catch (::abi::__forced_unwind &) {
        throw;
    } catch (...) {
        return caught(name());
    }
}

// Calls a function of the program that must not throw, because no MPI call could report the exception.
template <class Call>
__attribute__((no_sanitize("null"))) void forbidding_to_throw(const char *function, Call call) {
    try {
        call();
    } catch (::abi::__forced_unwind &) {
        stop_for_ended_thread(function);
    } catch (...) {
        stop_for_thrown(caught(function));
    }
}

}  // namespace lanyard
