// How the entry points of the doors time themselves where a profile is wanted (tool/profile.h): the process's state is `timed` then
// instead of `active`, for which each call looks anyway. One that finds it timed calls itself again between two looks at the
// clock, unless it is part of a call that is timed already, such as a function of the program that MPI has called. Any thread.
#pragma once

#include "api/state.h"
#include "tool/profile.h"

namespace lanyard {

inline ProcessState process_state() { return lanyard_process_state.load(std::memory_order_relaxed); }

inline bool to_be_timed(ProcessState state) { return state == ProcessState::timed && timing::outside_timed_call(); }

// An entry point of a door as its body knows it: its name, and the function itself, to be called again.
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
