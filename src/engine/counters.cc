// Describes the counters.
#include "engine/counters.h"

#include "engine/helper.h"

namespace lanyard {

namespace {

using enum CounterClass;
using enum Audience;

}  // namespace

Counters<EngineCounts> &engine_counters() {
    static auto &only = *new Counters<EngineCounts>("engine", {
        {"engine_sleeps", counter, user, "times", "times that a thread waiting in MPI fell asleep",
         &EngineCounts::sleeps},
        {"engine_time_asleep", timer, user, "s", "total time for which threads waiting in MPI were asleep",
         &EngineCounts::slept_ns},
        {"engine_yields", counter, expert, "times",
         "times that a waiting thread yielded its processor to another process",
         &EngineCounts::yields},
    });
    return only;
}

Counters<Helper> &helper_counters() {
    static auto &only = *new Counters<Helper>("engine", {
        {"engine_helper_wakes", counter, expert, "times", "times that the helper thread woke up",
         &Helper::times_woken},
        {"engine_helper_armings", counter, expert, "times",
         "times that the program left work under way to the helper thread",
         &Helper::times_armed},
    });
    return only;
}

}  // namespace lanyard
