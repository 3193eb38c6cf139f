// The receiver's part against incast: it decides how much each sender may have in flight to this process.
//
// Many senders to one receiver fill the queue of the switch's port before it, and each sender's own window is
// too small a part of that to notice it in time. Only the receiver sees how many they are, and at which rate
// all bytes arrive, which is what its line carries. Every acknowledgement therefore grants its flow a window:
//
//     (arrival rate x least round trip + safe queue) / senders
//
// - The first term keeps the line busy, and the second waits before it; everything in flight is one or the
//   other. As long as the line is not full, nothing waits and more arrives in a round trip than before. The
//   measured rate, and with it the grant, then grows until it reaches the line's rate. From then on it stays,
//   since more cannot arrive. So the formula is right for 1 Gbit/s, for 10 Gbit/s and for memory, without any
//   prior knowledge.
// - The safe queue is 64 KiB, because the smallest switches have 128 KiB at a port, and a sender that has
//   only begun has not received a grant yet. (It is not less if little arrives: this means as often that
//   little is sent as that the line is slow, and senders with little data would wait for grants.)
// - A lone sender is not limited, since its own congestion control sees everything. A sender that sends
//   little, less than a long packet, does not count either, since this is no queue. Each sender may have one
//   packet in flight, whatever it is granted.
// - Senders are counted in rounds. A round is long enough for the line to carry everything that is granted
//   and two packets of each sender, so that each has its turn. It is not longer, because in an exchange in
//   pairs one sender begins where another has ended. The rate determines how long this is. If little was sent
//   before, the rate shows nothing about the line, and the round ends when twice as much has arrived.
// - The rate of a round is bytes by time. The lower of two in a row counts, since a host that looked late
//   finds at once what arrived in a longer time. The best of these in recent rounds counts, since a pause
//   within a round makes a line look slow.
// - The grant is a window, not a sum that is used up. Lost packets therefore do not diminish it, and an old
//   grant that arrives late is corrected by the next. congestion.h defines how long a sender relies on one.
//
// A process has one object for all flows across the network, and one for those within the host, which share
// no line but a socket's buffer.
// Thread rule: the owner of the flows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace lanyard::dgram {

struct GrantLimits {
    uint32_t queue = 64 * 1024;
    uint64_t least_round_ns = 2'000'000;
    // A sender with fewer bytes in a round does not count, if packets are longer than that.
    uint32_t little = 4096;
    // Assumed as the least round trip of a flow on which none was measured.
    uint64_t unknown_trip_ns = 50'000;
};

class Grants {
public:
    // What is kept for each flow.
    struct Sender {
        static constexpr uint16_t counted = UINT16_MAX;
        uint16_t round = 0;  // in which something last arrived
        // Bytes in that round; or `counted`: among the senders, however long packets become later in the
        // round.
        uint16_t received = 0;
    };

    explicit Grants(const GrantLimits &limits) : limits_(limits) {}

    // A packet of this length has arrived, which counted as in flight.
    void received(Sender &sender, uint32_t bytes, uint64_t now_ns);
    // `packet`: the maximum length of a packet. `least_ns`: the flow's least round trip, 0 if it is not
    // known.
    uint32_t window(size_t packet, uint64_t least_ns, uint64_t now_ns);
    // Were there several senders recently?
    bool several() const { return senders() > 1; }
    // What all senders together have reached recently; 0: not known.
    uint64_t bytes_per_s() const { return rate_; }

private:
    uint32_t senders() const { return std::max(senders_, senders_before_); }
    uint64_t in_flight(uint64_t least_ns) const;
    void turn(uint64_t now_ns);
    void measure(uint64_t bytes, uint64_t ns);

    const GrantLimits limits_;
    uint64_t started_ns_ = 0, length_ns_ = 0;  // of the round
    uint64_t enough_ = 0, received_ = 0;       // bytes that complete the round; bytes that have arrived in it
    uint64_t rate_ = 0, rate_before_ = 0;      // bytes per second; of the last round alone
    uint32_t senders_ = 0, senders_before_ = 0;
    uint32_t longest_ = 1024;  // packet that has ever arrived
    uint16_t round_ = 1;
};

}  // namespace lanyard::dgram
