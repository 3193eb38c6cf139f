// Finds the route to a peer that has several addresses. Some of them may belong to a network that does not
// connect the two processes, or may lead, from here, to another machine (docker0 has the same address
// everywhere).
//
// The first packet takes the route whose two ends have the most leading bits in common. If no answer arrives
// in time, the packet is repeated on all routes. The first packet that arrives from the peer shows a route
// that works, and this route is used afterwards. (A network that carries packets in one direction only would
// be chosen too. FirstContact (first_contact.h) reports such a network like one where UDP is blocked.) If
// there is only one route, or the first one works, nothing is sent twice.
//
// Noting where packets come from costs the kernel 70 ns for each packet. This is therefore requested only
// until the routes to all peers are known, and for at most one second after the last packet whose route was
// not known. A peer whose first packet arrives later shows its route by the second packet.
// Tested by: tests/sim/peer_routes_test.cc, tests/lab/test_addresses.py.
#include "path/dgram/dgram_path.h"

namespace lanyard {

namespace {
constexpr uint64_t noted_for_ns = 1'000'000'000;  // longer than a peer waits before it probes again
}

void DgramPath::note_origins(bool on) {
    notes_origins_ = on;
    note_origins_until_ns_ = now_ns_ + noted_for_ns;
    io_.note_origins(on);
}

// Learns the route from an accepted packet, the first whose origin was noted.
void DgramPath::learn_route(Peer &peer, const PacketIo::Arrived &received) {
    int64_t route = io_.origin(received);
    if (route < 0) return note_origins(true);
    peer.route = RouteState::known;
    peer.destination = static_cast<uint64_t>(route);
    note_origins(++routes_known_ + 1 < peers_.size());
}

// Repeats a packet, which has left by one route, on all other routes if an answer is overdue.
void DgramPath::send_by_other_routes(const Peer &peer, PacketIo::Outgoing packet) {
    if (!peer.flow.asks_again()) return;
    std::string name;
    if (Error error = find_(peer.flow.peer(), name)) return error.discard();
    for (uint64_t route : io_.routes(name)) {
        packet.destination = route;
        if (route != peer.destination) io_.send(&packet, 1);
    }
}

std::string DgramPath::ends(uint32_t number) {
    Peer *peer = contact(number);
    return peer ? io_.ends(peer->destination) : std::string();
}

}  // namespace lanyard
