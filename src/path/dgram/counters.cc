// Descriptions of the counters.
#include "path/dgram/counters.h"

#include "path/dgram/dgram_path.h"

namespace lanyard {

namespace {

using dgram::FlowCounts;
using dgram::PeerCounts;
using enum CounterClass;
using enum Audience;
using Rows = std::vector<CounterRow<FlowCounts>>;

// The two are read one after the other, so `received` may be ahead.
uint64_t missing(const FlowCounts &counts) {
    uint64_t named = counts.named, received = counts.received;
    return named > received ? named - received : 0;
}

Rows packet_rows() {
    return {
        {"dgram_packets_sent", counter, user, "packets", "datagrams sent", &FlowCounts::packets_out},
        {"dgram_bytes_sent", counter, user, "bytes", "bytes of datagrams sent", &FlowCounts::bytes_out},
        {"dgram_packets_received", counter, user, "packets", "datagrams that came and were believed",
         &FlowCounts::packets_in},
        {"dgram_bytes_received", counter, user, "bytes", "bytes of datagrams that came and were believed",
         &FlowCounts::bytes_in},
        {"dgram_acknowledgements_alone", counter, user, "packets",
         "datagrams sent with nothing in them but an acknowledgement", &FlowCounts::acknowledgements_out},
        {"dgram_acknowledgements_carried", counter, user, "packets",
         "acknowledgements sent beside something else", &FlowCounts::acknowledgements_carried},
        {"dgram_lost_by_order", counter, user, "packets",
         "datagrams given up, and what was in them sent again, as later ones were acknowledged",
         &FlowCounts::lost_by_order},
        {"dgram_lost_by_time", counter, user, "packets",
         "datagrams given up, and what was in them sent again, as a later one was acknowledged and they are "
         "older than a round trip",
         &FlowCounts::lost_by_time},
        {"dgram_lost_by_probe", counter, user, "packets",
         "datagrams given up, and what was in them sent again, as nothing was acknowledged for long",
         &FlowCounts::lost_by_probe},
        {"dgram_given_up_too_early", counter, user, "packets",
         "datagrams given up that had come nevertheless, as far as that was noticed",
         &FlowCounts::given_up_too_early},
        {"dgram_probes", counter, expert, "times",
         "times that nothing was acknowledged for long, and a peer was asked", &FlowCounts::probes},
        {"dgram_silences", counter, user, "times", "times that a peer had answered nothing for two seconds",
         &FlowCounts::silences},
        {"dgram_packets_missing", level, user, "packets",
         "datagrams to this process that have not come, by the numbers that their senders gave them",
         missing},
    };
}

Rows dropped_packet_rows() {
    return {
        {"dgram_duplicates", counter, user, "packets",
         "datagrams dropped, as they had come before: doubled on the way, or replayed",
         &FlowCounts::copies},
        {"dgram_damaged", counter, user, "packets", "datagrams dropped, as their checksum was wrong",
         &FlowCounts::damaged},
        {"dgram_strangers", counter, user, "packets",
         "datagrams dropped, as they do not prove to be of this job", &FlowCounts::strangers},
        {"dgram_stale", counter, user, "packets",
         "datagrams dropped, as they are of or for an earlier process with this number",
         &FlowCounts::stale},
        {"dgram_garbage", counter, expert, "packets",
         "datagrams dropped, as they are too short or make no sense",
         [](const FlowCounts &counts) { return counts.garbage + counts.malformed; }},
        {"dgram_without_room", counter, expert, "packets",
         "datagrams dropped, as too much was missing before them",
         [](const FlowCounts &counts) { return counts.beyond + counts.no_room; }},
        {"dgram_taken_back", counter, expert, "packets",
         "datagrams for which the kernel had no room, and which were made again later",
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
            {"dgram_peers", level, user, "processes", "processes that datagrams were sent to, or came from",
             &DgramPath::known},
            {"dgram_round_trip", level, user, "ns",
             "how long answers to datagrams take, smoothed, in the mean of all processes that have answered",
             [](const DgramPath &path) { return path.round_trips().mean_ns; }},
            {"dgram_round_trip_least", level, user, "ns", "the shortest that an answer has taken lately",
             [](const DgramPath &path) { return path.round_trips().least_ns; }},
            peer_row<&PeerCounts::sent>("dgram_peer_sent", "packets",
                                        "datagrams with anything but acknowledgements sent, by process"),
            peer_row<&PeerCounts::given_up>("dgram_peer_given_up", "packets",
                                            "of dgram_peer_sent: given up, and what was in them sent again"),
            peer_row<&PeerCounts::too_early>(
                "dgram_peer_too_early", "packets",
                "of dgram_peer_given_up: had come nevertheless, as far as that was noticed"),
            peer_row<&PeerCounts::received>(
                "dgram_peer_received", "packets",
                "datagrams with anything but acknowledgements that came, by process"),
            peer_row<&PeerCounts::missing>(
                "dgram_peer_missing", "packets",
                "the same that have not come, by the numbers that their senders gave them"),
            peer_row<&PeerCounts::round_trip_ns>("dgram_peer_round_trip", "ns",
                                                 "how long answers take, smoothed, by process"),
            peer_row<&PeerCounts::least_round_trip_ns>(
                "dgram_peer_round_trip_least", "ns",
                "the shortest that an answer has taken lately, by process"),
        });
    return only;
}

}  // namespace lanyard
