// Describes the counters.
#include "path/network_counters.h"

namespace lanyard {

Counters<NetworkCounts> &network_counters() {
    using enum CounterClass;
    using enum Audience;
    using Counts = NetworkCounts;
    static auto &only = *new Counters<Counts>("network", {
        {"network_envelopes_sent", counter, user, "frames",
         "envelopes, with their payload, passed to TCP links or datagrams",
         &Counts::envelopes_sent},
        {"network_envelopes_received", counter, user, "frames",
         "envelopes that arrived over TCP links or in datagrams", &Counts::envelopes_received},
        {"network_bulk_sent", counter, user, "frames",
         "frames of long messages written to TCP links or put into datagrams",
         &Counts::bulk_sent},
        {"network_bulk_received", counter, user, "frames",
         "frames of long messages that arrived over TCP links or in datagrams",
         &Counts::bulk_received},
    });
    return only;
}

}  // namespace lanyard
