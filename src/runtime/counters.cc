// See counters.h.
#include "runtime/counters.h"

#include "base/wait_record.h"
#include "coll/counters.h"
#include "engine/counters.h"
#include "p2p/counters.h"
#include "path/dgram/counters.h"
#include "path/network_counters.h"
#include "path/shm/counters.h"
#include "path/tcp/counters.h"

namespace lanyard {

Counters<WaitRecord> &wait_counters() {
    static auto &only = *new Counters<WaitRecord>("engine", [] {
        CounterRow<WaitRecord> row{
            "engine_waiting", CounterClass::state, Audience::user, "",
            "whether a thread of this process waits in MPI",
            [](const WaitRecord &record) { return record.waiting.load(std::memory_order_relaxed) != 0; }};
        row.words = {"no", "yes"};
        return std::vector{row};
    }());
    return only;
}

void declare_counters() {
    declare_counters({&message_counters(), &unexpected_counters(), &posted_counters(), &channel_counters(),
                      &copy_method_counters(), &engine_counters(), &helper_counters(), &wait_counters(),
                      &network_counters(), &tcp_counters(), &flow_counters(), &datagram_counters(),
                      &shm_counters(), &collective_counters()});
}

}  // namespace lanyard
