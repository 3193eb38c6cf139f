#include "tool/counters.h"

#include "base/tally.h"
#include "base/wait_record.h"
#include "coll/team.h"
#include "engine/engine.h"
#include "engine/helper.h"
#include "p2p/messenger.h"
#include "path/dgram/dgram_path.h"
#include "path/shm/shm_path.h"
#include "path/tcp/tcp_path.h"

namespace lanyard::tool {

namespace {

using Seen = const Observed &;
using enum SettingLevel;

constexpr int counter = abi::t_pvar_class_counter, level = abi::t_pvar_class_level, size = abi::t_pvar_class_size,
              timer = abi::t_pvar_class_timer, highest = abi::t_pvar_class_highwatermark, state = abi::t_pvar_class_state;

template <Tally<uint64_t> MessageCounts::*field>
uint64_t of_messages(Seen seen, const Team *) {
    return seen.messenger ? seen.messenger->counts().*field : uint64_t{0};
}
template <Tally<uint64_t> Engine::Counts::*field>
uint64_t of_engine(Seen seen, const Team *) {
    return seen.engine ? seen.engine->counts().*field : uint64_t{0};
}
template <Tally<uint64_t> TcpPath::Counts::*field>
uint64_t of_links(Seen seen, const Team *) {
    return seen.network ? seen.network->counts().*field : uint64_t{0};
}
// The same of links and of datagrams, of which a job has one.
template <Tally<uint64_t> TcpPath::Counts::*of_link, Tally<uint64_t> DgramPath::Counts::*of_datagram>
uint64_t of_network(Seen seen, const Team *) {
    return seen.network ? seen.network->counts().*of_link : seen.datagrams ? seen.datagrams->message_counts().*of_datagram : uint64_t{0};
}
template <Tally<uint64_t> dgram::FlowCounts::*... fields>
uint64_t of_flows(Seen seen, const Team *) {
    return seen.datagrams ? (uint64_t{0} + ... + (seen.datagrams->counts().*fields)) : 0;
}
template <auto dgram::PeerCounts::*field>
uint64_t of_peer(Seen seen, int process) {
    return seen.datagrams ? seen.datagrams->counts_of(static_cast<uint32_t>(process)).*field : 0;
}
template <Tally<uint64_t> Connector::Counts::*field>
uint64_t of_connector(Seen seen, const Team *) {
    return seen.network ? seen.network->connector().counts().*field : uint64_t{0};
}

uint64_t stored(Seen seen, const Team *) { return seen.messenger ? seen.messenger->unexpected().added() : 0; }
uint64_t unexpected(Seen seen, const Team *) { return seen.messenger ? seen.messenger->unexpected().count() : 0; }
uint64_t unexpected_bytes(Seen seen, const Team *) { return seen.messenger ? seen.messenger->unexpected().payload_bytes() : 0; }

// How fast long messages come within a node, by size and by each way that they may take (p2p/ways.h).
template <Ways::Kind kind, Ways::Way way>
CounterRow rates_row(const char *name, const char *sentence) {
    CounterRow row{name, "p2p", level, expert, "MB/s", sentence, false, nullptr};
    row.values = Ways::sizes;
    row.read_each = [](Seen seen, int place) -> uint64_t {
        return seen.messenger ? seen.messenger->ways().seen(kind, place).rate[static_cast<int>(way)].bytes_per_us : uint64_t{0};
    };
    return row;
}

// Memory of the node's segment handed out so far, by anybody.
uint64_t segment_bytes(Seen seen, const Team *) {
    return seen.shm ? seen.shm->segment().header().appended.load(std::memory_order_relaxed) : 0;
}

std::vector<CounterRow> message_rows() {
    return {
        {"p2p_messages_sent", "p2p", counter, user, "messages", "messages sent, of collectives too", false, of_messages<&MessageCounts::sent>},
        {"p2p_messages_matched", "p2p", counter, user, "messages", "messages that met their receive, of collectives too", false,
         of_messages<&MessageCounts::matched>},
        {"p2p_rendezvous_sent", "p2p", counter, user, "messages",
         "of the messages sent: those that were offered first, as they are long, synchronous or beyond the receiver's credit", false,
         of_messages<&MessageCounts::rendezvous>},
        {"p2p_announcements_sent", "p2p", counter, user, "announcements", "posted receives that were announced to their senders", false,
         of_messages<&MessageCounts::announced>},
        {"p2p_announcements_used", "p2p", counter, user, "messages", "messages sent to announced receives without being asked for", false,
         of_messages<&MessageCounts::announcements_used>},
        {"p2p_announcements_crossed", "p2p", counter, user, "announcements",
         "announcements that came when something else had been sent, and were left aside", false, of_messages<&MessageCounts::crossed>},
        {"p2p_bytes_written", "p2p", counter, user, "bytes", "bytes of messages sent to announced receives", false,
         of_messages<&MessageCounts::bytes_written>},
        {"p2p_unexpected_stored", "p2p", counter, user, "messages", "messages, or offers of them, that came before their receive and were stored",
         false, stored},
        {"p2p_unexpected_messages", "p2p", level, user, "messages", "messages stored that no receive has taken yet", false, unexpected},
        {"p2p_unexpected_messages_most", "p2p", highest, user, "messages", "the most messages stored at a time", false, unexpected,
         [](Seen seen) { return seen.messenger ? &seen.messenger->unexpected().most() : nullptr; }},
        {"p2p_unexpected_bytes", "p2p", level, user, "bytes", "bytes of memory that hold payload of stored messages", false, unexpected_bytes},
        {"p2p_unexpected_bytes_most", "p2p", highest, user, "bytes", "the most bytes of memory that held payload of stored messages", false,
         unexpected_bytes,
         [](Seen seen) { return seen.messenger ? &seen.messenger->unexpected().most_payload_bytes() : nullptr; }},
        {"p2p_posted_receives", "p2p", level, user, "receives", "receives that wait for their message", false,
         [](Seen seen, const Team *) -> uint64_t { return seen.messenger ? seen.messenger->posted().count() : 0; }},
        {"p2p_peers_without_room", "p2p", level, expert, "processes", "processes for which something waits here until there is room", false,
         [](Seen seen, const Team *) -> uint64_t { return seen.messenger ? seen.messenger->waiting_peers() : 0; }},
    };
}

std::vector<CounterRow> way_rows() {
    using Kind = Ways::Kind;
    using Way = Ways::Way;
    return {
        rates_row<Kind::contiguous, Way::directly>("p2p_rate_once", "the best rate at which long messages have come within a node that were copied "
            "once, by sizes from 16 KiB on that double, the last for all longer ones; it is remembered until the ways are tried anew"),
        rates_row<Kind::contiguous, Way::twice>("p2p_rate_twice", "the same of messages that were copied twice, through shared buffers"),
        rates_row<Kind::contiguous, Way::streamed>("p2p_rate_streamed", "the same of messages that were copied twice, out of shared buffers past the "
                                                   "caches, which is tried from 512 KiB on"),
        rates_row<Kind::in_runs, Way::directly>("p2p_rate_once_in_runs", "p2p_rate_once of messages to receive buffers that are not contiguous"),
        rates_row<Kind::in_runs, Way::twice>("p2p_rate_twice_in_runs", "p2p_rate_twice of messages to receive buffers that are not contiguous"),
        rates_row<Kind::mapped, Way::directly>("p2p_rate_once_mapped", "p2p_rate_once of messages from memory of MPI_Alloc_mem"),
        rates_row<Kind::mapped, Way::twice>("p2p_rate_twice_mapped", "p2p_rate_twice of messages from memory of MPI_Alloc_mem"),
    };
}

std::vector<CounterRow> engine_rows() {
    return {
        {"engine_sleeps", "engine", counter, user, "times", "times that a thread waiting in MPI fell asleep", false,
         of_engine<&Engine::Counts::sleeps>},
        {"engine_time_asleep", "engine", timer, user, "s", "time that threads waiting in MPI were asleep, all together", false,
         of_engine<&Engine::Counts::slept_ns>},
        {"engine_yields", "engine", counter, expert, "times", "times that a waiting thread gave its processor to another process", false,
         of_engine<&Engine::Counts::yields>},
        {"engine_helper_wakes", "engine", counter, expert, "times", "times that the helper thread woke up", false,
         [](Seen seen, const Team *) { return seen.helper ? seen.helper->times_woken() : 0; }},
        {"engine_helper_armings", "engine", counter, expert, "times", "times that the program left something under way to the helper thread", false,
         [](Seen seen, const Team *) { return seen.helper ? seen.helper->times_armed() : 0; }},
        {"engine_waiting", "engine", state, user, "", "whether a thread of this process waits in MPI", false,
         [](Seen seen, const Team *) -> uint64_t { return seen.record && seen.record->waiting.load(std::memory_order_relaxed); }, nullptr,
         make_enumeration("waiting", {"no", "yes"})},
    };
}

std::vector<CounterRow> network_rows() {
    using Links = TcpPath::Counts;
    using Connections = Connector::Counts;
    using Datagrams = DgramPath::Counts;
    return {
        {"network_envelopes_sent", "network", counter, user, "frames", "envelopes, with what payload goes with them, given to TCP links or datagrams",
         false, of_network<&Links::envelopes_sent, &Datagrams::envelopes_sent>},
        {"network_envelopes_come", "network", counter, user, "frames", "envelopes that came by TCP links or in datagrams", false,
         of_network<&Links::envelopes_come, &Datagrams::envelopes_come>},
        {"network_bulk_sent", "network", counter, user, "frames", "frames of long messages written to TCP links or put into datagrams", false,
         of_network<&Links::bulk_sent, &Datagrams::bulk_sent>},
        {"network_bulk_come", "network", counter, user, "frames", "frames of long messages that came by TCP links or in datagrams", false,
         of_network<&Links::bulk_come, &Datagrams::bulk_come>},
        {"network_acknowledgements", "network", counter, expert, "frames", "acknowledgements sent that rode on nothing else", false,
         of_links<&Links::acknowledgements>},
        {"network_connections", "network", level, user, "connections", "TCP connections to other processes", false,
         [](Seen seen, const Team *) -> uint64_t { return seen.network ? seen.network->open() : 0; }},
        {"network_connections_made", "network", counter, user, "connections", "TCP connections made, by whichever side", false,
         of_connector<&Connections::made>},
        {"network_attempts", "network", counter, expert, "attempts", "attempts of this process to connect", false,
         of_connector<&Connections::dialed>},
        {"network_connections_broken", "network", counter, user, "connections", "TCP connections lost that were still needed", false,
         of_links<&Links::broken>},
        {"network_connections_rested", "network", counter, expert, "connections", "quiet TCP connections closed to make room for others", false,
         of_links<&Links::rested>},
        {"network_silent_hosts", "network", counter, user, "times", "times that a host had acknowledged nothing for long and was dialed anew", false,
         of_links<&Links::silences>},
        {"network_frames_damaged", "network", counter, user, "frames", "frames whose checksum was wrong (LANYARD_CHECKSUM)", false,
         of_links<&Links::damaged>},
        {"network_frames_garbled", "network", counter, expert, "frames", "frames that made no sense, each the end of its connection", false,
         of_links<&Links::garbled>},
        {"network_strangers", "network", counter, user, "connections", "connections refused, as who made them proved nothing", false,
         of_connector<&Connections::strangers>},
        {"network_moves", "network", counter, expert, "times", "times that a link changed to an address that gives more", false,
         of_connector<&Connections::moves>},
    };
}

CounterRow flow_row(const char *name, const char *unit, SettingLevel for_whom, const char *sentence, uint64_t (*read)(Seen, const Team *),
                    int pvar_class = counter) {
    return {name, "dgram", pvar_class, for_whom, unit, sentence, false, read};
}

// The less of two counts that are read one after the other.
uint64_t rest(uint64_t all, uint64_t part) { return all > part ? all - part : 0; }

std::vector<CounterRow> packet_rows() {
    using Flows = dgram::FlowCounts;
    return {
        flow_row("dgram_packets_sent", "packets", user, "datagrams sent", of_flows<&Flows::packets_out>),
        flow_row("dgram_bytes_sent", "bytes", user, "bytes of datagrams sent", of_flows<&Flows::bytes_out>),
        flow_row("dgram_packets_come", "packets", user, "datagrams that came and were believed", of_flows<&Flows::packets_in>),
        flow_row("dgram_bytes_come", "bytes", user, "bytes of datagrams that came and were believed", of_flows<&Flows::bytes_in>),
        flow_row("dgram_acknowledgements_alone", "packets", user, "datagrams sent with nothing in them but an acknowledgement",
                 of_flows<&Flows::acknowledgements_out>),
        flow_row("dgram_acknowledgements_carried", "packets", user, "acknowledgements sent beside something else",
                 of_flows<&Flows::acknowledgements_carried>),
        flow_row("dgram_lost_by_order", "packets", user, "datagrams given up, and what was in them sent again, as later ones were acknowledged",
                 of_flows<&Flows::lost_by_order>),
        flow_row("dgram_lost_by_time", "packets", user,
                 "datagrams given up, and what was in them sent again, as a later one was acknowledged and they are older than a round trip",
                 of_flows<&Flows::lost_by_time>),
        flow_row("dgram_lost_by_probe", "packets", user, "datagrams given up, and what was in them sent again, as nothing was acknowledged for long",
                 of_flows<&Flows::lost_by_probe>),
        flow_row("dgram_given_up_too_early", "packets", user, "datagrams given up that had come nevertheless, as far as that was noticed",
                 of_flows<&Flows::given_up_too_early>),
        flow_row("dgram_probes", "times", expert, "times that nothing was acknowledged for long, and a peer was asked",
                 of_flows<&Flows::probes>),
        flow_row("dgram_silences", "times", user, "times that a peer had answered nothing for two seconds", of_flows<&Flows::silences>),
        flow_row("dgram_packets_missing", "packets", user,
                 "datagrams to this process that have not come, by the numbers that their senders gave them",
                 [](Seen seen, const Team *) -> uint64_t {
                     return seen.datagrams ? rest(seen.datagrams->counts().named, seen.datagrams->counts().come) : 0;
                 }, level),
    };
}

std::vector<CounterRow> dropped_packet_rows() {
    using Flows = dgram::FlowCounts;
    return {
        flow_row("dgram_duplicates", "packets", user, "datagrams dropped, as they had come before: doubled on the way, or replayed",
                 of_flows<&Flows::copies>),
        flow_row("dgram_damaged", "packets", user, "datagrams dropped, as their checksum was wrong", of_flows<&Flows::damaged>),
        flow_row("dgram_strangers", "packets", user, "datagrams dropped, as they do not prove to be of this job", of_flows<&Flows::strangers>),
        flow_row("dgram_stale", "packets", user, "datagrams dropped, as they are of or for an earlier process with this number",
                 of_flows<&Flows::stale>),
        flow_row("dgram_garbage", "packets", expert, "datagrams dropped, as they are too short or make no sense",
                 of_flows<&Flows::garbage, &Flows::malformed>),
        flow_row("dgram_without_room", "packets", expert, "datagrams dropped, as too much was missing before them",
                 of_flows<&Flows::beyond, &Flows::no_room>),
        flow_row("dgram_taken_back", "packets", expert, "datagrams for which the kernel had no room, and which were made again later",
                 of_flows<&Flows::taken_back>),
    };
}

template <auto dgram::PeerCounts::*field>
CounterRow peer_row(const char *name, const char *unit, const char *sentence) {
    CounterRow row{name, "dgram", level, expert, unit, sentence, false, nullptr};
    row.read_each = of_peer<field>;
    row.of_processes = true;
    return row;
}

std::vector<CounterRow> datagram_peer_rows() {
    using Peer = dgram::PeerCounts;
    return {
        flow_row("dgram_peers", "processes", user, "processes that datagrams were sent to, or came from",
                 [](Seen seen, const Team *) -> uint64_t { return seen.datagrams ? seen.datagrams->known() : 0; }, level),
        flow_row("dgram_round_trip", "ns", user, "how long answers to datagrams take, smoothed, in the mean of all processes that have answered",
                 [](Seen seen, const Team *) -> uint64_t { return seen.datagrams ? seen.datagrams->round_trips().mean_ns : 0; }, level),
        flow_row("dgram_round_trip_least", "ns", user, "the shortest that an answer has taken lately",
                 [](Seen seen, const Team *) -> uint64_t { return seen.datagrams ? seen.datagrams->round_trips().least_ns : 0; }, level),
        peer_row<&Peer::sent>("dgram_peer_sent", "packets", "datagrams with anything but acknowledgements sent, by process"),
        peer_row<&Peer::given_up>("dgram_peer_given_up", "packets", "of dgram_peer_sent: given up, and what was in them sent again"),
        peer_row<&Peer::too_early>("dgram_peer_too_early", "packets", "of dgram_peer_given_up: had come nevertheless, as far as that was noticed"),
        peer_row<&Peer::come>("dgram_peer_come", "packets", "datagrams with anything but acknowledgements that came, by process"),
        peer_row<&Peer::missing>("dgram_peer_missing", "packets", "the same that have not come, by the numbers that their senders gave them"),
        peer_row<&Peer::round_trip_ns>("dgram_peer_round_trip", "ns", "how long answers take, smoothed, by process"),
        peer_row<&Peer::least_round_trip_ns>("dgram_peer_round_trip_least", "ns", "the shortest that an answer has taken lately, by process"),
    };
}

std::vector<CounterRow> shm_and_collective_rows() {
    return {
        {"shm_rings", "shm", level, expert, "rings", "rings of other processes that are looked at", false,
         [](Seen seen, const Team *) -> uint64_t { return seen.shm ? seen.shm->rings() : 0; }},
        {"shm_cells_used", "shm", level, expert, "cells", "of this process's cells: those whose content has not been read yet", false,
         [](Seen seen, const Team *) -> uint64_t { return seen.shm ? seen.shm->cells_in_use() : 0; }},
        {"shm_cells", "shm", size, expert, "cells", "cells that this process has for payload of 16 KiB each", false,
         [](Seen seen, const Team *) -> uint64_t { return seen.shm ? seen.shm->segment().header().cells : 0; }},
        {"shm_segment_bytes", "shm", level, user, "bytes", "bytes of the node's shared memory that the job's processes use", false, segment_bytes},
        {"coll_started", "coll", counter, user, "collectives",
         "collective operations called on a communicator, with those that make communicators or persistent operations", true,
         [](Seen, const Team *team) -> uint64_t { return team->sequence; }},
        {"coll_persistent_made", "coll", counter, user, "collectives", "persistent collectives made on a communicator", true,
         [](Seen, const Team *team) -> uint64_t { return team->persistent; }},
    };
}

}  // namespace

const std::vector<CounterRow> &counter_table() {
    static const std::vector<CounterRow> table = [] {
        std::vector<CounterRow> all;
        for (const auto &rows : {message_rows(), way_rows(), engine_rows(), network_rows(), packet_rows(), dropped_packet_rows(),
                                 datagram_peer_rows(), shm_and_collective_rows()})
            all.insert(all.end(), rows.begin(), rows.end());
        return all;
    }();
    return table;
}

int values_of(const CounterRow &row) {
    const DgramPath *datagrams = observed().datagrams;
    return row.of_processes && datagrams ? static_cast<int>(datagrams->peer_count()) : row.values;
}

}  // namespace lanyard::tool
