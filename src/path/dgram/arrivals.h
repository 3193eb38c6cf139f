// Records which packets of a peer have arrived, and decides when to acknowledge them.
//
// Packets are numbered 1, 2, 3..., and no number is used twice. A packet whose number has arrived before is
// therefore a copy and is dropped. A lost packet stays lost, and its contents arrive in other packets. The
// receiver need not remember missing numbers for ever, because the sender states a number below which no
// packet is worth waiting for (`move_on`). What is known is described by two numbers, next_ and end_, and by
// a bit for each number between them:
//
//        1 ................ next_ .......................... end_
//        arrived or passed over | not arrived | arrived or not, by bit | not arrived
//
// A packet is refused if its number is most_span or more beyond next_. The sender stays within this limit,
// and a forged number cannot cost this process much time.
//
// An acknowledgement is due:
// - at once, if a number is missing that was not missing before, or if a missing number arrives: the sender
//   should learn of a loss as soon as possible. Another acknowledgement is due with the third packet after
//   such a gap, because the sender takes three later packets for proof of the loss. An acknowledgement is
//   also due at once for a `probe`, for a copy, and for a packet for which there is no room;
// - otherwise after `packets` more packets, or after `delay_ns`. Any packet to the peer that leaves earlier
//   carries the acknowledgement. (Where processes share processors, the time is longer, see
//   flow_receiving.cc: a separate acknowledgement would take processor time from both sides.)
// - once more, if an acknowledgement reported a gap and nothing has arrived for `delay_ns`: where packets are
//   lost, that acknowledgement may have been lost too, and the peer may wait for it with a full window.
// Thread rule: the owner of the flow.
#pragma once

#include <algorithm>

#include "path/dgram/packet.h"

namespace lanyard::dgram {

struct AnswerLimits {
    uint32_t packets = 8;
    uint64_t delay_ns = 200'000;
    // Upper limit where processes share processors. The delay then depends on the round trip.
    uint64_t most_delay_ns = 20'000'000;
};

class Arrivals {
public:
    enum class Verdict { fresh, copy, beyond };

    explicit Arrivals(uint64_t next = 1) : next_(next), end_(next) {}

    uint64_t next() const { return next_; }
    // Has anything arrived beyond a missing number?
    bool gaps() const { return end_ > next_; }
    Verdict judge(uint64_t number) const {
        if (number >= next_ + most_span) return Verdict::beyond;
        return number < next_ || (number < end_ && bit(number)) ? Verdict::copy : Verdict::fresh;
    }
    // Records a fresh packet, which may have waited for `away_ns` to be read.
    void add(uint64_t number, bool answer_now, const AnswerLimits &limits, uint64_t now_ns,
             uint64_t away_ns = 0);
    // Makes an acknowledgement due at this time: a copy has arrived, or the caller needs one for another
    // reason.
    void copy_arrived(uint64_t now_ns) { due_ns_ = now_ns; }
    // Called when the sender states that no packet below this number is worth waiting for.
    void move_on(uint64_t below);

    // When an acknowledgement is due; UINT64_MAX: there is nothing to acknowledge.
    uint64_t due_ns() const { return std::min(due_ns_, repeat_ns_); }
    // Sets those fields of the acknowledgement whose values this class has. If there are too many ranges,
    // states only the highest ones. After the call, the acknowledgement counts as sent. If it reports a gap,
    // another one is due after `repeat_after_ns`, once.
    void acknowledge(Acknowledgement &acknowledgement, uint64_t now_ns, uint64_t repeat_after_ns);

private:
    bool bit(uint64_t number) const { return words_[number % most_span / 64] >> number % 64 & 1; }
    // Returns the first number from `from` to end_ - 1 that has arrived (if `received`) or that has not
    // arrived (otherwise); end_ if there is none.
    uint64_t find(uint64_t from, bool received) const;
    void advance();

    uint64_t next_, end_;
    // due_ns_: when a new acknowledgement is due. repeat_ns_: when the last one is to be repeated.
    uint64_t due_ns_ = UINT64_MAX, repeat_ns_ = UINT64_MAX;
    uint64_t latest_ns_ = 0;   // when number end_ - 1 was read
    uint16_t away_us_ = 0;     // how long number end_ - 1 may have waited to be read
    uint32_t unanswered_ = 0;  // packets since the last acknowledgement
    uint32_t to_third_ = 0;    // packets until the third after a gap
    bool told_ = false;        // everything that has arrived has been acknowledged
    uint64_t words_[most_span / 64] = {};
};

}  // namespace lanyard::dgram
