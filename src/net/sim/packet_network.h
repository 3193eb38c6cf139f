// A network of packets for tests, in virtual time: hosts around one switch, which by a seed do everything that an Ethernet does to datagrams.
//
//     host --- uplink (rate, queue of the card) ---> switch --- port of the other host (rate, queue of so many bytes) ---> host
//
// A packet waits for the uplink (a full card makes send() say so), travels half the delay, is lost, doubled, damaged or held up by chance or
// dropped by a cut, then waits for the port of its receiver, where what finds the queue full is dropped (incast), and travels the other half. Packets
// of one host to another stay in order but for those held up. The same seed and the same calls give the same again. Costs
// about 0.3 us a packet. Single-threaded; compiled into tests only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net/packet_io.h"
#include "net/sim/random.h"

namespace lanyard::sim {

struct PacketBehaviour {
    uint64_t bytes_per_s = 125'000'000;   // of every uplink and port
    uint64_t delay_ns = 50'000;           // from host to host
    uint64_t jitter_ns = 0;               // at most so much more
    uint32_t lost_ppm = 0, doubled_ppm = 0, damaged_ppm = 0;
    uint32_t held_up_ppm = 0;             // come later than their successors
    uint64_t held_up_ns = 100'000;        // by at most so much
    size_t port_queue = 128 * 1024;       // bytes at each port of the switch
    size_t card_queue = 256 * 1024;       // bytes at each host
    size_t largest = 1472;                // payload of a packet
    size_t hole = SIZE_MAX;               // longer packets vanish on their way, and nobody is told
    size_t overhead = 66;                 // bytes on the wire beside it: UDP, IP, Ethernet with its gaps

    static PacketBehaviour any(Random &random);
};

class PacketNetwork {
public:
    struct Counts {
        uint64_t sent = 0, sent_bytes = 0, arrived = 0;
        uint64_t lost = 0, doubled = 0, damaged = 0, held_up = 0;
        uint64_t overflowed = 0, cut_off = 0, too_long = 0, swallowed = 0;
    };

    PacketNetwork(uint64_t seed, const PacketBehaviour &behaviour, uint32_t hosts);
    ~PacketNetwork();

    PacketIo &host(uint32_t number);
    bool has_arrived(uint32_t host) const;
    uint64_t now_ns() const { return now_ns_; }
    // When the next packet reaches the switch or a host; UINT64_MAX: none is on its way.
    uint64_t next_ns() const { return events_.empty() ? UINT64_MAX : events_.front().time_ns; }
    // What happens up to then happens.
    void advance(uint64_t to_ns);
    // From now on nothing passes between the two, in both directions, or does again.
    void cut(uint32_t a, uint32_t b, bool is_cut = true);
    // The same in one direction.
    void cut_way(uint32_t from, uint32_t to) { cut_[from * endpoints_.size() + to] = true; }
    void heal_all();
    // May be changed at any time.
    PacketBehaviour &behaviour() { return behaviour_; }
    const Counts &counts() const { return counts_; }
    std::string describe() const;

private:
    class Endpoint;
    struct Packet {
        std::vector<std::byte> bytes;
        uint32_t from, to;
    };
    struct Event {
        uint64_t time_ns, order;
        uint32_t packet;
        bool at_host;
        bool operator>(const Event &other) const { return time_ns != other.time_ns ? time_ns > other.time_ns : order > other.order; }
    };
    // What sends one packet after the other.
    struct Line {
        uint64_t free_ns = 0;
        uint64_t last_arrival_ns = 0;
    };

    uint32_t take_packet();
    void give_packet(uint32_t packet) { spare_.push_back(packet); }
    void add_event(uint64_t time_ns, uint32_t packet, bool at_host);
    bool by_chance(uint32_t ppm) { return ppm && random_.below(1'000'000) < ppm; }
    uint64_t waiting_bytes(const Line &line) const;
    uint64_t pass(Line &line, size_t bytes);
    bool launch(uint32_t from, const PacketIo::Outgoing &out);
    void reach_switch(uint32_t packet);
    void leave_switch(uint32_t packet);

    PacketBehaviour behaviour_;
    Random random_;
    uint64_t now_ns_ = 0, next_order_ = 0;
    std::vector<Packet> packets_;
    std::vector<uint32_t> spare_;
    std::vector<Event> events_;  // a heap, the earliest first
    std::vector<Line> uplinks_, ports_;
    std::vector<bool> cut_;  // by from * hosts + to
    std::vector<std::unique_ptr<Endpoint>> endpoints_;
    Counts counts_;
};

}  // namespace lanyard::sim
