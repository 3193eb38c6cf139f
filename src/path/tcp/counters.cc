// Describes the counters of the TCP path.
#include "path/tcp/counters.h"

#include "path/tcp/tcp_path.h"

namespace lanyard {

namespace {

template <Tally<uint64_t> TcpPath::Counts::*field>
uint64_t of_links(const TcpPath &path) {
    return path.counts().*field;
}
template <Tally<uint64_t> Connector::Counts::*field>
uint64_t of_connector(const TcpPath &path) {
    return path.connector().counts().*field;
}

}  // namespace

Counters<TcpPath> &tcp_counters() {
    using enum CounterClass;
    using enum Audience;
    using Paths = TcpPath::Counts;
    using Connections = Connector::Counts;
    static auto &only = *new Counters<TcpPath>(
        "network",
        {
            {"network_acknowledgements", counter, expert, "frames",
             "acknowledgements sent in a frame of their own", of_links<&Paths::acknowledgements>},
            {"network_connections", level, user, "connections", "TCP connections to other processes",
             &TcpPath::open},
            {"network_connections_made", counter, user, "connections", "TCP connections made, by either side",
             of_connector<&Connections::made>},
            {"network_attempts", counter, expert, "attempts", "attempts of this process to connect",
             of_connector<&Connections::dialed>},
            {"network_connections_broken", counter, user, "connections",
             "TCP connections that broke while they were still needed", of_links<&Paths::broken>},
            {"network_connections_idle_closed", counter, expert, "connections",
             "TCP connections closed because they were idle", of_links<&Paths::idle_closed>},
            {"network_silent_hosts", counter, user, "times",
             "times that a host had acknowledged nothing for a long time and was dialed again",
             of_links<&Paths::silences>},
            {"network_frames_damaged", counter, user, "frames",
             "frames whose checksum was wrong (LANYARD_CHECKSUM)", of_links<&Paths::damaged>},
            {"network_frames_garbled", counter, expert, "frames",
             "malformed frames, each of which ended its connection", of_links<&Paths::garbled>},
            {"network_strangers", counter, user, "connections",
             "connections refused because the other side did not prove that it belongs to this job",
             of_connector<&Connections::strangers>},
            {"network_moves", counter, expert, "times",
             "times that a link moved to an address with a higher rate", of_connector<&Connections::moves>},
        });
    return only;
}

}  // namespace lanyard
