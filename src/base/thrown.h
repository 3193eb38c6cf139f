// Functions of the program (operations of reductions, attribute functions, those of generalised requests) may
// throw. The rule: what one throws is an Error like any other until the door raises it (api/raise.cc), and
// there it is thrown on. So it leaves the call that an error would be told by, all that cleans up after an
// error has done so, and nothing of the library is ever unwound in the middle: of a reduction, other ranks
// still get their messages, and the call that completes it is the one that throws, in the thread that makes
// it. Error handlers need none of this: nothing is under way when they are called, so what they throw passes
// through raise() as it is.
//
// The C++ runtime in this library is hidden, so the program may have another one; the unwinder (libgcc_s)
// they share. Both agree about what an exception looks like in memory, so that one is kept and thrown on by
// the runtime here, and caught by the program's. Exceptions of other languages and of libc++ cannot be kept:
// of these the Error alone is left. While one is kept the program's runtime counts it as under way
// (std::uncaught_exceptions), in the thread that threw it: for ever, if another thread or nobody asks for the
// operation.
//
// A thread that ends in such a function (pthread_exit, pthread_cancel) unwinds its stack too, and cannot be
// kept from it.
#pragma once

#include <cxxabi.h>

#include "base/error.h"

namespace lanyard {

// Before any function of the program is called. A program may have an unwinder linked in (-static-libgcc), which asks
// the library's about the frames here; that one only answers after it has been used once.
void ready_unwinder();
// Within catch (...): what was caught, as an Error. `function` names what threw: "the program's delete
// function for attribute key 7".
[[gnu::cold]] Error caught(const std::string &function);
// Stop the process: a thread ends where it leaves the library in the middle of things; what was caught (the
// Error is its) could be told nobody.
[[noreturn, gnu::cold]] void stop_for_ended_thread(const char *function);
[[noreturn, gnu::cold]] void stop_for_thrown(Error caught);

// Calls a function of the program where its thread may end; `name` gives the text for caught(). (The end of a thread is caught
// as a reference to nothing, which a sanitizer would complain of.)
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

// Calls one that must not throw, as there is no call that could fail for it.
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
