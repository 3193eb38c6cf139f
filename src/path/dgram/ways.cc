// Which way the packets to a peer go, where it has several addresses: one may be that of a network which does not connect the two, or belong to
// somebody else here (docker0 has the same everywhere).
//
// The first packet goes the way whose ends are most alike; what is asked again, as no answer has come in time, by all ways. The first packet that
// comes from a peer shows one that leads there, and that is taken for good. (A network that carries packets in one direction only would be taken
// too: it is told of as one where UDP is closed, by who makes first contact.) Where there is one way, or the first is good, nothing goes twice.
#include "path/dgram/dgram_path.h"

namespace lanyard {

// Of a believed packet, the first.
void DgramPath::learn_way(Peer &peer, const PacketIo::Arrived &come) {
    peer.heard = true;
    if (int64_t way = io_.origin(come); way >= 0) peer.destination = static_cast<uint64_t>(way);
}

// Of a packet that has left by one, to who has not been heard.
void DgramPath::send_by_other_ways(const Peer &peer, PacketIo::Outgoing packet) {
    if (!peer.several_ways || !peer.flow.asks_again()) return;
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
