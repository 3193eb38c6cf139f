// Descriptions of the counters.
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
    static auto &only = *new Counters<TcpPath>("network", {
        {"network_acknowledgements", counter, expert, "frames",
         "acknowledgements sent that rode on nothing else",
         of_links<&Paths::acknowledgements>},
        {"network_connections", level, user, "connections", "TCP connections to other processes",
         &TcpPath::open},
        {"network_connections_made", counter, user, "connections", "TCP connections made, by whichever side",
         of_connector<&Connections::made>},
        {"network_attempts", counter, expert, "attempts", "attempts of this process to connect",
         of_connector<&Connections::dialed>},
        {"network_connections_broken", counter, user, "connections",
         "TCP connections lost that were still needed",
         of_links<&Paths::broken>},
        {"network_connections_rested", counter, expert, "connections",
         "quiet TCP connections closed to make room for others",
         of_links<&Paths::rested>},
        {"network_silent_hosts", counter, user, "times",
         "times that a host had acknowledged nothing for long and was dialed anew",
         of_links<&Paths::silences>},
        {"network_frames_damaged", counter, user, "frames",
         "frames whose checksum was wrong (LANYARD_CHECKSUM)",
         of_links<&Paths::damaged>},
        {"network_frames_garbled", counter, expert, "frames",
         "frames that made no sense, each the end of its connection",
         of_links<&Paths::garbled>},
        {"network_strangers", counter, user, "connections",
         "connections refused, as who made them proved nothing",
         of_connector<&Connections::strangers>},
        {"network_moves", counter, expert, "times", "times that a link changed to an address that gives more",
         of_connector<&Connections::moves>},
    });
    return only;
}

}  // namespace lanyard
