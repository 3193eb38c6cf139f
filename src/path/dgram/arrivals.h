// Which packets of a peer have arrived, and when to acknowledge them.
//
// Packets are numbered 1, 2, 3..., and no number is used twice. A packet that arrives again is therefore a
// copy and is dropped. A lost packet stays lost, and its contents arrive in others. So that its number need
// not be remembered for ever, the sender states below which number nothing is worth waiting for (`settled`).
// Two numbers describe what is known, with a bit for each number between them:
//
//        1 ............ next() ......................... end()
//        arrived or settled | not arrived | arrived or not, by bit | not arrived
//
// A packet is refused if it is most_span or more beyond next(). The sender keeps within that, and a forged
// packet cannot make us clear much.
//
// An acknowledgement is due:
// - at once, if a number is missing that was not missing before, or if a missing one arrives: the sender
//   learns of a loss as soon as possible. It is due again with the third packet after such a gap, which the
//   sender takes for proof of the loss. It is also due at once for a `probe`, and for a copy, since its
//   acknowledgement was lost;
// - otherwise after `packets` more packets, or after `delay_ns`. It travels on any packet to the peer that
//   leaves before that. (Where processes share processors, the time is longer, see flow_receiving.cc: an
//   acknowledgement of its own would take a processor from both.)
// - once more, if it reported a gap and nothing has arrived for `delay_ns`: where packets are lost, it may
//   have been lost too, and its sender may wait for it with a full window.
// Thread rule: the owner of the flow.
#pragma once

#include <algorithm>

#include "path/dgram/packet.h"

namespace lanyard::dgram {

struct AnswerLimits {
    uint32_t packets = 8;
    uint64_t delay_ns = 200'000;
    uint64_t most_delay_ns = 20'000'000;  // if processes share processors; depends on the round trip
};

class Arrivals {
public:
    enum class Verdict { fresh, copy, beyond };

    explicit Arrivals(uint64_t next = 1) : next_(next), end_(next) {}

    uint64_t next() const { return next_; }
    // Is anything remembered beside next()?
    bool gaps() const { return end_ > next_; }
    Verdict judge(uint64_t number) const {
        if (number >= next_ + most_span) return Verdict::beyond;
        return number < next_ || (number < end_ && bit(number)) ? Verdict::copy : Verdict::fresh;
    }
    // A fresh packet, which may have waited for `away_ns` to be read.
    void add(uint64_t number, bool answer_now, const AnswerLimits &limits, uint64_t now_ns,
             uint64_t away_ns = 0);
    void copy_came(uint64_t now_ns) { due_ns_ = now_ns; }
    // Nothing below this number is worth waiting for.
    void settle(uint64_t below);

    // When an acknowledgement is due; UINT64_MAX: there is nothing to acknowledge.
    uint64_t due_ns() const { return std::min(due_ns_, repeat_ns_); }
    // Fills in everything that this class has; the highest ranges, if there are too many. The acknowledgement
    // then counts as sent, and is repeated after `repeat_after_ns` if that is worthwhile.
    void acknowledge(Acknowledgement &acknowledgement, uint64_t now_ns, uint64_t repeat_after_ns);

private:
    bool bit(uint64_t number) const { return words_[number % most_span / 64] >> number % 64 & 1; }
    // The first number from `from` on, before end_, that has arrived (or has not); else end_.
    uint64_t find(uint64_t from, bool received) const;
    void advance();

    uint64_t next_, end_;
    // When a new acknowledgement is due; when the last one is to be repeated.
    uint64_t due_ns_ = UINT64_MAX, repeat_ns_ = UINT64_MAX;
    uint64_t latest_ns_ = 0;   // when number end_ - 1 was read
    uint16_t away_us_ = 0;     // how long it may have waited for that
    uint32_t unanswered_ = 0;  // packets since the last acknowledgement
    uint32_t to_third_ = 0;    // packets until the third after a gap
    bool told_ = false;        // everything that has arrived has been acknowledged
    uint64_t words_[most_span / 64] = {};
};

}  // namespace lanyard::dgram
