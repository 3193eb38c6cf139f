// How the entry points of the doors time themselves where a profile is wanted (tool/profile.h): the process's state is `timed` then
// instead of `active`, for which each call looks anyway. One that finds it timed calls itself again between two looks at the
// clock, unless it is part of a call that is timed already, such as a function of the program that MPI has called. Any thread.
#pragma once

#include "api/state.h"
#include "tool/profile.h"

namespace lanyard {

inline ProcessState process_state() { return lanyard_process_state.load(std::memory_order_relaxed); }

inline bool to_be_timed(ProcessState state) { return state == ProcessState::timed && timing::outside_timed_call(); }

template <class Call>
[[gnu::cold, gnu::noinline]] int timed(const char *name, Call call) {
    static CallTimes &times = timing::times_of_call(name);
    timing::TimedCall scope(times);
    return call();
}

}  // namespace lanyard
