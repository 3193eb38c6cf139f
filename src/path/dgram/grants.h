// Protects a receiver against incast, the overload of its network link by many senders at once. The receiver
// decides how much each sender may have in flight to it.
//
// Many senders together fill the queue of the switch port that leads to the receiver. The window of each
// sender is only a small part of this queue, so no sender notices in time that the queue grows. Only the
// receiver sees how many senders there are, and the rate at which all bytes arrive. At most, this is the rate
// of the receiver's network link (its line). Every acknowledgement therefore grants its flow a window:
//
//     (arrival rate x least round trip + safe queue) / senders
//
// - The bytes of the first term keep the line busy, and those of the second wait in the queue. Together they
//   are everything in flight. As long as the line is not full, nothing waits. The bytes of the second term
//   then arrive too, so more bytes arrive in each round trip than in the one before. The measured rate, and
//   with it the grant, therefore grows until the rate is that of the line. After that the grant stays the
//   same, since more cannot arrive. So the formula is right for 1 Gbit/s, for 10 Gbit/s and for memory,
//   without any prior knowledge.
// - The safe queue is 64 KiB, because the smallest switches have 128 KiB at a port, and a sender that has
//   only begun has not received a grant yet. (The safe queue is not reduced if little arrives. The reason may
//   be a slow line, but just as often it is that little is sent. A smaller safe queue would then only make
//   senders with little data wait for grants.)
// - A lone sender is not limited, since its own congestion control sees the whole queue. A sender that sends
//   little (less than a long packet) does not count as a sender, since its bytes make no queue. Each sender
//   may have one packet in flight, whatever it is granted.
// - Senders are counted in rounds. A round is long enough for the line to carry everything that is granted,
//   and at least two packets of each sender, so that each sender has its turn. A round is not longer: if
//   processes exchange data in pairs, one sender begins when another has ended, and a longer round would
//   count both. The length of a round is computed from the measured rate. If little was sent before, this
//   rate shows nothing about the line. A round therefore ends early when twice the bytes that it should carry
//   have arrived.
// - The rate of a round is its bytes divided by its time. A host that reads late finds at once what arrived
//   in a longer time, so the rate of a single round may be too high. Therefore the lower rate of two rounds
//   in a row is used. A pause within a round makes the line look slow, so the rate may also be too low.
//   Therefore the grant uses the highest of these lower rates in recent rounds.
// - The grant is a window, not a sum that is used up. Lost packets therefore do not reduce the grant, and the
//   next grant corrects an old one that arrives late. congestion.h defines how long a sender relies on a
//   grant.
//
// A process has one object for all flows across the network, and one for all flows within the host. Flows
// within the host do not use the line, but they share the buffer of the process's socket.
// Thread rule: the owner of the flows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"

namespace lanyard::dgram {

struct GrantLimits {
    uint32_t queue = 64 * KiB;
    uint64_t least_round_ns = 2'000'000;
    // A sender with fewer bytes in a round does not count. If all packets are shorter than this, the longest
    // of them is the limit.
    uint32_t little = 4096;
    // The least round trip that is assumed for a flow on which none was measured.
    uint64_t unknown_trip_ns = 50'000;
};

class Grants {
public:
    // What is kept for each flow.
    struct Sender {
        static constexpr uint16_t counted = UINT16_MAX;
        uint16_t round = 0;  // the round in which something last arrived
        // The bytes that arrived in that round, or `counted`. The flow is then counted as a sender, even if
        // packets become longer later in the round.
        uint16_t received = 0;
    };

    explicit Grants(const GrantLimits &limits) : limits_(limits) {}

    // Called when a packet of `bytes` bytes has arrived, if its sender had counted it as in flight.
    void received(Sender &sender, uint32_t bytes, uint64_t now_ns);
    // Returns the window to grant to a flow. `packet`: the maximum length of a packet. `least_ns`: the flow's
    // least round trip, 0 if it is not known.
    uint32_t window(size_t packet, uint64_t least_ns, uint64_t now_ns);
    // Were there several senders recently?
    bool several() const { return senders() > 1; }
    // The rate that all senders together have reached recently; 0: not known.
    uint64_t bytes_per_s() const { return rate_; }

private:
    uint32_t senders() const { return std::max(senders_, senders_before_); }
    uint64_t in_flight(uint64_t least_ns) const;
    void turn(uint64_t now_ns);
    void measure(uint64_t bytes, uint64_t ns);

    const GrantLimits limits_;
    uint64_t started_ns_ = 0, length_ns_ = 0;  // start and planned length of the round
    uint64_t enough_ = 0, received_ = 0;       // bytes that the round should carry; bytes arrived in it
    uint64_t rate_ = 0, rate_before_ = 0;  // bytes per second: the rate that counts; that of the last round
    uint32_t senders_ = 0, senders_before_ = 0;
    uint32_t longest_ = 1024;  // the longest packet that has ever arrived, at least 1024
    uint16_t round_ = 1;
};

}  // namespace lanyard::dgram
