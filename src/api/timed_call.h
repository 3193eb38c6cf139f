// Lets entry points time themselves if a profile is requested (tool/profile.h), or if the program is built
// with the thread sanitizer, to which each TimedCall reports its beginning and end (base/race_checker.h). The
// process state, which most calls read anyway, is then `timed` instead of `active`. An entry point that reads
// `timed` calls itself again between two readings of the clock. It does not do so inside another call that is
// being timed, for example in a function of the program that MPI has called. Any thread.
// Tested by: tests/launch/test_profile.py, tests/failures/test_thrown.py.
#pragma once

#include "api/state.h"
#include "tool/profile.h"

namespace lanyard {

inline ProcessState process_state() { return lanyard_process_state.load(std::memory_order_relaxed); }

inline bool to_be_timed(ProcessState state) {
    return state == ProcessState::timed && timing::outside_timed_call();
}

// Describes an entry point to its own body: the name, and the function itself, which the body calls again to
// time it.
template <auto function>
struct EntryPoint {
    const char *name;
    static constexpr auto again = function;
};

template <auto function, class... Arguments>
[[gnu::cold, gnu::noinline]] int timed(EntryPoint<function> entry, Arguments... arguments) {
    static CallTimes &times = timing::times_of_call(entry.name);
    timing::TimedCall scope(times);
    return entry.again(arguments...);
}

}  // namespace lanyard
