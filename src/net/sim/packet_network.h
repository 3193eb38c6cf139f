// PacketNetwork simulates a network of packets for tests, in virtual time. All hosts are connected to one
// switch. The network does to datagrams everything that an Ethernet does, controlled by a seed.
//
//     host --- uplink (rate, card queue) ---> switch --- port of the other host (rate, queue) ---> host
//
// A packet first waits for the uplink and then travels for half of the delay. If the queue of the host's
// network card is full, send() takes no packet. At the switch a packet may be lost, duplicated, damaged or
// held up by chance. It is dropped if its two hosts are cut off from each other, or if it is longer than
// PacketBehaviour::hole. Then it waits for the port of its receiver; if the queue of this port is full, the
// packet is dropped (incast). Finally it travels for the other half of the delay. Packets from one host to
// another stay in order, except packets that are held up. The same seed and the same calls give the same
// result. Simulating a packet takes about 0.3 us.
// Single-threaded; compiled into tests only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "net/packet_io.h"
#include "net/sim/random.h"

namespace lanyard::sim {

struct PacketBehaviour {
    uint64_t bytes_per_s = 125'000'000;   // the rate of every uplink and port
    uint64_t delay_ns = 50'000;           // the time from host to host
    uint64_t jitter_ns = 0;               // the longest random addition to the delay
    uint32_t lost_ppm = 0, doubled_ppm = 0, damaged_ppm = 0;
    uint32_t held_up_ppm = 0;             // packets that are held up, and so perhaps reordered behind others
    uint64_t held_up_ns = 100'000;        // the longest time for which a packet is held up
    size_t port_queue = 128 * KiB;        // the longest queue at each port of the switch, in bytes
    size_t card_queue = 256 * KiB;        // the longest queue at each host's network card, in bytes
    size_t largest = 1472;                // the largest payload of a packet, in bytes
    size_t hole = SIZE_MAX;               // packets with a longer payload vanish without a report
    size_t overhead = 66;  // bytes on the wire in addition to the payload: UDP, IP, Ethernet with its gaps

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
    // The time at which the next packet reaches the switch or a host; UINT64_MAX if none is under way.
    uint64_t next_ns() const { return events_.empty() ? UINT64_MAX : events_.front().time_ns; }
    // Lets time pass up to `to_ns`.
    void advance(uint64_t to_ns);
    // Cuts the two hosts off from each other in both directions, or connects them again.
    void cut(uint32_t a, uint32_t b, bool is_cut = true);
    // Cuts one direction only.
    void cut_direction(uint32_t from, uint32_t to) { cut_[from * endpoints_.size() + to] = true; }
    void heal_all();
    // The behaviour of the network, which may be changed at any time.
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
    // An uplink, or a port of the switch. It sends one packet after another.
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
    std::vector<bool> cut_;  // whether a direction is cut, at the index from * hosts + to
    std::vector<std::unique_ptr<Endpoint>> endpoints_;
    Counts counts_;
};

}  // namespace lanyard::sim
