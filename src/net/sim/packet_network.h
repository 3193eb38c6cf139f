// A simulated network of packets for tests, in virtual time. Hosts surround one switch. Controlled by a seed,
// they do to datagrams everything that an Ethernet does.
//
//     host --- uplink (rate, card queue) ---> switch --- port of the other host (rate, queue) ---> host
//
// A packet waits for the uplink (if the card's queue is full, send() reports it), and travels half the delay.
// At the switch it may be lost, doubled, damaged or held up by chance, or dropped by a cut. It then waits for
// the port of its receiver, where a packet that finds the queue full is dropped (incast), and travels the
// other half of the delay. Packets from one host to another stay in order, except those held up. The same
// seed and the same calls give the same result. A packet costs about 0.3 us. Single-threaded; compiled into
// tests only.
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
    uint64_t jitter_ns = 0;               // added at most
    uint32_t lost_ppm = 0, doubled_ppm = 0, damaged_ppm = 0;
    uint32_t held_up_ppm = 0;             // arrive later than their successors
    uint64_t held_up_ns = 100'000;        // by at most this time
    size_t port_queue = 128 * 1024;       // bytes at each port of the switch
    size_t card_queue = 256 * 1024;       // bytes at each host
    size_t largest = 1472;                // payload of a packet
    size_t hole = SIZE_MAX;               // longer packets vanish on the way without a report
    size_t overhead = 66;  // bytes on the wire beside the payload: UDP, IP, Ethernet with its gaps

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
    // When the next packet reaches the switch or a host; UINT64_MAX: none is under way.
    uint64_t next_ns() const { return events_.empty() ? UINT64_MAX : events_.front().time_ns; }
    // Lets time pass up to `to_ns`.
    void advance(uint64_t to_ns);
    // Cuts the two hosts off from each other in both directions, or connects them again.
    void cut(uint32_t a, uint32_t b, bool is_cut = true);
    // Cuts one direction.
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
        bool operator>(const Event &other) const {
            return time_ns != other.time_ns ? time_ns > other.time_ns : order > other.order;
        }
    };
    // A line, which sends one packet after another.
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
    std::vector<Event> events_;  // a heap, the earliest event first
    std::vector<Line> uplinks_, ports_;
    std::vector<bool> cut_;  // by from * hosts + to
    std::vector<std::unique_ptr<Endpoint>> endpoints_;
    Counts counts_;
};

}  // namespace lanyard::sim
