// The receiver's part against incast: what each sender may have on its way to this process.
//
// Many that send to one fill the queue of the switch's port before it, and each of their own windows is too small a part of that to notice in time.
// Only the receiver sees how many they are, and how fast all together comes, which is what its line carries. So every acknowledgement
// grants its flow a window:
//
//     (arrival rate x least round trip + safe queue) / senders
//
// - The first term keeps the line busy, the second waits before it: all that is on its way is one or the other. As long as the line is not full
//   nothing waits, more comes in a round trip than before, and the rate that is measured, and with it the grant, grows until it is the line's.
//   From then on it stays: more cannot come. So it is right for a gigabit, for ten and for memory, without knowing which it is.
// - The safe queue is 64 KiB: the smallest switches hold 128 KiB at a port, and who has just begun was granted nothing yet. (Not less where little
//   comes: that says as often that little is sent as that the line is slow, and who has little to send would wait for grants.)
// - A lone sender is not limited: its own congestion control sees all there is to see. Nor does who sends little count, less than a long packet:
//   that is no queue. Each may have one packet on its way, whatever it is granted.
// - Senders are counted in rounds, in which the line carries all that is granted, and two packets of each, as each comes to its turn in that; not
//   longer, as in an exchange in pairs one begins where another has ended. How long that is the rate says; but where little was sent before, that
//   says nothing of the line, and the round ends when twice as much has come.
// - The rate of a round is bytes by time; the lower of two in a row counts, as a host that was late to look finds at once what came in a longer
//   time; and of these the best of late, as a pause within a round makes a line look slow.
// - The grant is a window, not a sum that is used up: nothing leaks with packets that are lost, and an old one that comes late is corrected
//   by the next. How long a sender believes one, congestion.h says.
//
// One for all flows of a process by which the network comes, and one for those within the host: they share no line, but a socket's buffer.
// Thread rule: the owner of the flows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace lanyard::dgram {

struct GrantLimits {
    uint32_t queue = 64 * 1024;
    uint64_t least_round_ns = 2'000'000;
    uint32_t little = 4096;             // bytes of a round, where packets are longer than that
    uint64_t unknown_trip_ns = 50'000;  // the least round trip of a flow on which none was measured
};

class Grants {
public:
    // What is kept of each flow.
    struct Sender {
        static constexpr uint16_t counted = UINT16_MAX;
        uint16_t round = 0;  // in which something came last,
        uint16_t received = 0;   // so many bytes in it, or `counted` among the senders, however long packets become later in the round
    };

    explicit Grants(const GrantLimits &limits) : limits_(limits) {}

    // A packet of so many bytes, which counted as on its way.
    void received(Sender &sender, uint32_t bytes, uint64_t now_ns);
    // `packet`: of the largest; `least_ns`: the flow's least round trip, 0 where it is not known.
    uint32_t window(size_t packet, uint64_t least_ns, uint64_t now_ns);
    // Was there more than one sender of late?
    bool several() const { return senders() > 1; }
    // What all senders together have reached of late; 0: not known.
    uint64_t bytes_per_s() const { return rate_; }

private:
    uint32_t senders() const { return std::max(senders_, senders_before_); }
    uint64_t in_flight(uint64_t least_ns) const;
    void turn(uint64_t now_ns);
    void measure(uint64_t bytes, uint64_t ns);

    const GrantLimits limits_;
    uint64_t started_ns_ = 0, length_ns_ = 0;  // of the round
    uint64_t enough_ = 0, received_ = 0;           // bytes that make it one; that have come in it
    uint64_t rate_ = 0, rate_before_ = 0;      // bytes a second; of the last round alone
    uint32_t senders_ = 0, senders_before_ = 0;
    uint32_t longest_ = 1024;                  // packet that ever came
    uint16_t round_ = 1;
};

}  // namespace lanyard::dgram
