// Writes the reports of the datagram path: about the path when MPI is finalised, about a peer that has
// failed, and about a peer that has not answered for a long time.
// Tested by: tests/failures/test_datagrams.py, tests/lab/test_datagrams.py.
#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/log.h"
#include "path/dgram/dgram_path.h"

namespace lanyard {

namespace {

// "31 of 2864 (1.1 %)"
std::string part_of(uint64_t part, uint64_t whole) {
    char text[80];
    double share = whole ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0;
    std::snprintf(text, sizeof text, "%llu of %llu (%.1f %%)", static_cast<unsigned long long>(part),
                  static_cast<unsigned long long>(whole), share);
    return text;
}

std::string with(uint64_t number, const char *what) {
    return number ? ", " + std::to_string(number) + " " + what : "";
}

// A packet that never arrived here is certainly lost, while one whose contents were sent again may only have
// been late.
bool much_is_missing(const dgram::FlowCounts &all) {
    constexpr uint64_t least_packets = 1000, one_in = 10;
    return all.named >= least_packets && all.missing() * one_in >= all.named;
}

std::string sentence_of(const dgram::FlowCounts &all) {
    return "sent again " + part_of(all.given_up(), all.numbered_out) + with(all.lost_by_order, "by order") +
           with(all.lost_by_time, "by time") + with(all.lost_by_probe, "by probe") +
           with(all.given_up_too_early, "too early") + "; of the packets to this process never arrived " +
           part_of(all.missing(), all.named) + "; dropped " + std::to_string(all.copies) + " copies" +
           with(all.damaged, "damaged") + with(all.strangers, "of strangers") +
           with(all.stale, "of earlier processes") + with(all.garbage + all.malformed, "without sense") +
           with(all.beyond + all.no_room, "without room");
}

}  // namespace

// Warns of routes that drop long packets silently. Names the first of them and counts the others.
void DgramPath::report_holes() const {
    const Peer *first = nullptr;
    size_t others = 0;
    for (const Published<Peer> &published : peers_) {
        const Peer *peer = published.seen();
        if (!peer || !peer->flow.packet_size().finds_a_hole()) continue;
        if (first) ++others;
        else first = peer;
    }
    if (!first) return;
    std::string ends = io_.ends(first->destination);
    log(LogLevel::warn, "dgram",
        "packets of %zu bytes to process %u%s%s%s do not arrive, and no router reports it; packets of %zu "
        "bytes do, and are used. Has a link on the way a smaller MTU, and is ICMP blocked? Give the "
        "interfaces of the hosts that MTU",
        io_.largest(first->destination), first->flow.peer(), ends.empty() ? "" : ", between ", ends.c_str(),
        others ? (", and to " + std::to_string(others) + " more,").c_str() : "",
        first->flow.packet_size().usual());
}

// "at 10.0.1.2:4711 ..."
std::string DgramPath::why(const Peer &peer, dgram::FlowEnd how) const {
    std::string ends = io_.ends(peer.destination), where;
    if (size_t and_at = ends.find(" and "); and_at != std::string::npos)
        where = "at " + ends.substr(and_at + 5) + " ";
    switch (how) {
        case dgram::FlowEnd::closed: return where + "has ended";
        case dgram::FlowEnd::gone:
            return where + "does not answer any more: its process has ended, or its host is cut off";
        case dgram::FlowEnd::refused:
            return where + "is another process now, which knows nothing of this one";
        case dgram::FlowEnd::cut_off: return where + cut_off_text();
        case dgram::FlowEnd::silent: break;
    }
    return where + "has not answered for " + std::to_string(limits_.flow.peer_timeout_ns / 1'000'000'000) +
           " s (LANYARD_PEER_TIMEOUT)";
}

// The flow calls this function repeatedly once nothing has arrived for a quarter of LANYARD_PEER_TIMEOUT. The
// answer `alive` counts as a sign of life, after which the next quarter begins.
dgram::PeerState DgramPath::peer_state(dgram::Flow &flow) {
    if (!liveness_) return dgram::PeerState::unknown;
    dgram::PeerState state = liveness_->ask(flow.peer());
    Peer &peer = *peers_[flow.peer()];
    if (state == dgram::PeerState::alive && peer.quarters < 4 && ++peer.quarters == 4 &&
        !std::exchange(told_silence_, true))
        report_silence(peer);
    return state;
}

// Warns that a peer is silent although it lives. Only informs if processes that compute do not answer anyway.
void DgramPath::report_silence(const Peer &peer) const {
    std::string ends = io_.ends(peer.destination);
    log(limits_.computing_answers ? LogLevel::warn : LogLevel::info, "dgram",
        "process %u has not answered for %llu s (LANYARD_PEER_TIMEOUT)%s%s, but it lives: a TCP connection "
        "to it is open. This process goes on waiting. If the other one was not stopped, datagrams no longer "
        "pass, perhaps because a firewall blocks UDP now; then leave dgram out of LANYARD_PATHS",
        peer.flow.peer(), static_cast<unsigned long long>(limits_.flow.peer_timeout_ns / 1'000'000'000),
        ends.empty() ? "" : ", between ", ends.c_str());
}

void DgramPath::report() const {
    report_holes();
    const dgram::FlowCounts &all = home_.counts;
    if (log_enabled(LogLevel::info) && all.packets_out + all.packets_in > 0) {
        RoundTrips trips = round_trips();
        log(LogLevel::info, "dgram", "%s; round trips of %llu us with %zu peer%s, the least %llu us; %s",
            sentence_of(all).c_str(), static_cast<unsigned long long>(trips.mean_ns / 1000), known(),
            known() == 1 ? "" : "s", static_cast<unsigned long long>(trips.least_ns / 1000),
            io_.describe().c_str());
    }
    if (much_is_missing(all))
        log(LogLevel::warn, "dgram",
            "of the packets to this process %s never arrived and were sent again: the network or this host "
            "drops them. If the host does (nstat -az "
            "UdpRcvbufErrors), raise net.core.rmem_max; mpirun --profile shows between which ranks packets "
            "are lost",
            part_of(all.missing(), all.named).c_str());
}

}  // namespace lanyard
