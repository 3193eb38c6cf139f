// See thrown.h.
#include "base/thrown.h"

#include <unwind.h>

#include <cstdio>
#include <cstdlib>
#include <typeinfo>

namespace lanyard {

namespace {

// Describes the current exception: "an exception of type std::runtime_error" if the type is known.
std::string what_was_caught() {
    const std::type_info *type = ::abi::__cxa_current_exception_type();
    if (!type) return "an exception of another language or C++ runtime";
    int status = 0;
    char *readable = ::abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
    std::string text = std::string("an exception of type ") + (readable ? readable : type->name());
    std::free(readable);
    return text;
}

}  // namespace

void ready_unwinder() {
    _Unwind_Backtrace([](_Unwind_Context *, void *) { return _URC_END_OF_STACK; }, nullptr);
}

Error caught(const std::string &function) {
    Error error(ErrorClass::other, function + " threw " + what_was_caught());
    return error.that_threw(std::current_exception());
}

void stop_for_ended_thread(const char *function) {
    std::fprintf(
        stderr,
        "Lanyard: %s has ended its thread (pthread_exit or pthread_cancel) in the middle of a call of MPI, "
        "which cannot go on without it; let it return instead\n",
        function);
    std::abort();
}

void stop_for_thrown(Error caught) {
    std::fprintf(stderr,
                 "Lanyard: %s; it runs where a call of MPI has done its work, so nobody could catch that\n",
                 caught.sentence().c_str());
    std::abort();
}

}  // namespace lanyard
