// Describes the counters of the datagram path.
#include "path/dgram/counters.h"

#include "path/dgram/dgram_path.h"

namespace lanyard {

namespace {

using dgram::FlowCounts;
using dgram::PeerCounts;
using enum CounterClass;
using enum Audience;
using Rows = std::vector<CounterRow<FlowCounts>>;

Rows packet_rows() {
    return {
        {"dgram_packets_sent", counter, user, "packets", "datagrams sent", &FlowCounts::packets_out},
        {"dgram_bytes_sent", counter, user, "bytes", "bytes of datagrams sent", &FlowCounts::bytes_out},
        {"dgram_packets_received", counter, user, "packets", "datagrams received and accepted",
         &FlowCounts::packets_in},
        {"dgram_bytes_received", counter, user, "bytes", "bytes of datagrams received and accepted",
         &FlowCounts::bytes_in},
        {"dgram_acknowledgements_alone", counter, user, "packets",
         "datagrams sent that contain only an acknowledgement", &FlowCounts::acknowledgements_out},
        {"dgram_acknowledgements_carried", counter, user, "packets",
         "acknowledgements sent together with something else", &FlowCounts::acknowledgements_carried},
        {"dgram_lost_by_order", counter, user, "packets",
         "datagrams given up, whose contents were sent again, because later datagrams were acknowledged",
         &FlowCounts::lost_by_order},
        {"dgram_lost_by_time", counter, user, "packets",
         "datagrams given up, whose contents were sent again, because a later datagram was acknowledged and "
         "they are older than a round trip",
         &FlowCounts::lost_by_time},
        {"dgram_lost_by_probe", counter, user, "packets",
         "datagrams given up, whose contents were sent again, because nothing was acknowledged for a long "
         "time",
         &FlowCounts::lost_by_probe},
        {"dgram_given_up_too_early", counter, user, "packets",
         "datagrams given up that had arrived nevertheless, as far as this was noticed",
         &FlowCounts::given_up_too_early},
        {"dgram_probes", counter, expert, "times",
         "times that nothing was acknowledged for a long time and a peer was probed", &FlowCounts::probes},
        {"dgram_silences", counter, user, "times", "times that a peer had not answered for two seconds",
         &FlowCounts::silences},
        {"dgram_packets_missing", level, user, "packets",
         "datagrams to this process that have not arrived, according to the numbers given by their senders",
         &FlowCounts::missing},
    };
}

Rows dropped_packet_rows() {
    return {
        {"dgram_duplicates", counter, user, "packets",
         "datagrams dropped because they had arrived before: duplicated by the network, or replayed",
         &FlowCounts::copies},
        {"dgram_damaged", counter, user, "packets", "datagrams dropped because their checksum was wrong",
         &FlowCounts::damaged},
        {"dgram_strangers", counter, user, "packets",
         "datagrams dropped because they do not prove that they belong to this job", &FlowCounts::strangers},
        {"dgram_stale", counter, user, "packets",
         "datagrams dropped because they are from or for an earlier process with this number",
         &FlowCounts::stale},
        {"dgram_garbage", counter, expert, "packets",
         "datagrams dropped because they are too short or malformed",
         [](const FlowCounts &counts) { return counts.garbage + counts.malformed; }},
        {"dgram_without_room", counter, expert, "packets",
         "datagrams dropped because too much was missing before them",
         [](const FlowCounts &counts) { return counts.beyond + counts.no_room; }},
        {"dgram_taken_back", counter, expert, "packets",
         "datagrams for which the kernel had no room, and which were composed again later",
         &FlowCounts::taken_back},
    };
}

template <auto PeerCounts::*field>
CounterRow<DgramPath> peer_row(const char *name, const char *unit, const char *sentence) {
    CounterRow<DgramPath> row{name, level, expert, unit, sentence, nullptr};
    row.value_at = [](const DgramPath &path, int process) {
        return path.counts_of(static_cast<uint32_t>(process)).*field;
    };
    row.places_of = &DgramPath::peer_count;
    return row;
}

}  // namespace

Counters<FlowCounts> &flow_counters() {
    static auto &only = *new Counters<FlowCounts>("dgram", [] {
        Rows all = packet_rows(), dropped = dropped_packet_rows();
        all.insert(all.end(), dropped.begin(), dropped.end());
        return all;
    }());
    return only;
}

Counters<DgramPath> &datagram_counters() {
    static auto &only = *new Counters<DgramPath>(
        "dgram",
        {
            {"dgram_peers", level, user, "processes",
             "processes to which datagrams were sent, or from which some arrived",
             &DgramPath::known},
            {"dgram_round_trip", level, user, "ns",
             "smoothed time until datagrams are answered, averaged over all processes that have answered",
             [](const DgramPath &path) { return path.round_trips().mean_ns; }},
            {"dgram_round_trip_least", level, user, "ns", "the shortest recent time until an answer",
             [](const DgramPath &path) { return path.round_trips().least_ns; }},
            peer_row<&PeerCounts::sent>("dgram_peer_sent", "packets",
                                        "datagrams sent that contain more than acknowledgements, by process"),
            peer_row<&PeerCounts::given_up>("dgram_peer_given_up", "packets",
                                            "datagrams of dgram_peer_sent that were given up, and whose "
                                            "contents were sent again"),
            peer_row<&PeerCounts::too_early>(
                "dgram_peer_too_early", "packets",
                "datagrams of dgram_peer_given_up that had arrived nevertheless, as far as this was noticed"),
            peer_row<&PeerCounts::received>(
                "dgram_peer_received", "packets",
                "datagrams received that contain more than acknowledgements, by process"),
            peer_row<&PeerCounts::missing>(
                "dgram_peer_missing", "packets",
                "datagrams of this kind that have not arrived, according to the numbers given by their "
                "senders"),
            peer_row<&PeerCounts::round_trip_ns>("dgram_peer_round_trip", "ns",
                                                 "smoothed time until an answer, by process"),
            peer_row<&PeerCounts::least_round_trip_ns>(
                "dgram_peer_round_trip_least", "ns",
                "the shortest recent time until an answer, by process"),
        });
    return only;
}

}  // namespace lanyard
