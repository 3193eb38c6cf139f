// Which way the packets to a peer go, where it has several addresses: one may be that of a network which does not connect the two, or belong to
// somebody else here (docker0 has the same everywhere).
//
// The first packet goes the way whose ends are most alike; what is asked again, as no answer has come in time, by all ways. The first packet that
// comes from a peer shows one that leads there, and that is taken for good. (A network that carries packets in one direction only would be taken
// too: it is told of as one where UDP is closed, by who makes first contact.) Where there is one way, or the first is good, nothing goes twice.
//
// To know where packets come from takes the kernel 70 ns for each. So it is asked until the ways to all peers are known, and not longer than a second
// after the last that was not; whose first packet comes later shows its way by the second.
#include "path/dgram/dgram_path.h"

namespace lanyard {

namespace {
constexpr uint64_t noted_for_ns = 1'000'000'000;  // longer than a peer waits before it asks again
}

void DgramPath::note_origins(bool on) {
    notes_origins_ = on;
    note_origins_until_ns_ = now_ns_ + noted_for_ns;
    io_.note_origins(on);
}

// By a believed packet, the first whose origin was noted.
void DgramPath::learn_way(Peer &peer, const PacketIo::Arrived &received) {
    int64_t way = io_.origin(received);
    if (way < 0) return note_origins(true);
    peer.way = Way::known;
    peer.destination = static_cast<uint64_t>(way);
    note_origins(++ways_known_ + 1 < peers_.size());
}

// Of a packet that has left by one.
void DgramPath::send_by_other_ways(const Peer &peer, PacketIo::Outgoing packet) {
    if (!peer.flow.asks_again()) return;
    std::string name;
    if (Error error = find_(peer.flow.peer(), name)) return error.discard();
    for (uint64_t way : io_.ways(name)) {
        packet.destination = way;
        if (way != peer.destination) io_.send(&packet, 1);
    }
}

std::string DgramPath::ends(uint32_t number) {
    Peer *peer = contact(number);
    return peer ? io_.ends(peer->destination) : std::string();
}

}  // namespace lanyard
