// See counters.h.
#include "coll/counters.h"

#include "coll/team.h"

namespace lanyard {

Counters<Team> &collective_counters() {
    using enum CounterClass;
    using enum Audience;
    static auto &only = *new Counters<Team>(
        "coll",
        {
            {"coll_started", counter, user, "collectives",
             "collective operations called on a communicator, including those that create communicators or "
             "persistent operations",
             &Team::sequence},
            {"coll_persistent_made", counter, user, "collectives",
             "persistent collectives created on a communicator", &Team::persistent},
        },
        true);
    return only;
}

}  // namespace lanyard
