// Functions of the program (reduction operations, attribute functions, functions of generalised requests) may
// throw. The rule: what one throws is an Error like any other until the front end raises it (api/raise.cc),
// and is thrown again there. So it leaves the call that would report an error, after all cleaning up for an
// error has been done, and nothing of the library is ever unwound in the middle. In a reduction, other ranks
// still receive their messages, and the call that completes the reduction throws, in the thread that makes
// it. Error handlers need none of this. Nothing is under way when they are called, so what they throw passes
// through raise() unchanged.
//
// The C++ runtime in this library is hidden, so the program may have another one; they share the unwinder
// (libgcc_s). Both agree on the layout of an exception in memory. So this library's runtime can keep one and
// throw it again, and the program's can catch it. Exceptions of other languages and of libc++ cannot be kept;
// only the Error remains of them. While one is kept, the program's runtime counts it as under way
// (std::uncaught_exceptions) in the thread that threw it. The count stays too high for ever if another thread
// completes the operation, or none does.
//
// A thread that ends in such a function (pthread_exit, pthread_cancel) unwinds its stack too. This cannot be
// prevented.
#pragma once

#include <cxxabi.h>

#include "base/error.h"

namespace lanyard {

// Must be called before any function of the program. A program may have an unwinder linked in
// (-static-libgcc), which queries the library's about the frames here; the library's answers only after it
// has been used once.
void ready_unwinder();
// Called within catch (...): returns what was caught as an Error. `function` names what threw, as in "the
// program's delete function for attribute key 7".
[[gnu::cold]] Error caught(const std::string &function);
// These stop the process: because a thread that ends leaves the library in the middle of an operation, or
// because no call could report what was caught. stop_for_thrown() owns the Error.
[[noreturn, gnu::cold]] void stop_for_ended_thread(const char *function);
[[noreturn, gnu::cold]] void stop_for_thrown(Error caught);

// Calls a function of the program where its thread may end; `name` returns the text for caught(). (The end of
// a thread is caught as a null reference, of which a sanitizer would complain.)
template <class Name, class Call>
[[gnu::no_sanitize("null")]] Error catching(Name name, Call call) {
    try {
        return call();
    } catch (::abi::__forced_unwind &) {
        throw;
    } catch (...) {
        return caught(name());
    }
}

// Calls a function that must not throw, because there is no call that could report it.
template <class Call>
[[gnu::no_sanitize("null")]] void forbidding_to_throw(const char *function, Call call) {
    try {
        call();
    } catch (::abi::__forced_unwind &) {
        stop_for_ended_thread(function);
    } catch (...) {
        stop_for_thrown(caught(function));
    }
}

}  // namespace lanyard
