// Which packets of a peer have come, and when to say so.
//
// Packets are numbered 1, 2, 3... and no number is used twice, so a packet that comes again is a copy: it is dropped. What is lost stays lost, its
// contents come in others; so that its number need not be remembered for ever, the sender says below which number nothing is worth
// waiting for (`settled`). Three numbers say what is known, and a bit for each number between the last two:
//
//        1 ............ next() ......................... end()
//        come or settled | not come | come or not, by bit  | not come
//
// A packet is refused when it is most_span or more beyond next(): the sender keeps within that, and a forged one cannot make us clear much.
//
// An acknowledgement is due
// - at once when a number is missing that was not before, or one comes that was missing: the sender learns of a loss as soon as can be. Again
//   with the third packet after such a gap, as it takes that for the proof. At once, too, when asked (`probe`), and for a copy: its
//   acknowledgement was lost;
// - else after `packets` more or `delay_ns`. It rides on whatever goes to the peer before that. (Where processes share processors it has more time
//   for that, flow_receiving.cc: alone it would take a processor from both.)
// - once more where it told of a gap and nothing has come for `delay_ns`: where packets are lost it may have been as well, and its sender may wait
//   for it with a full window.
// Thread rule: the owner of the flow.
#pragma once

#include <algorithm>

#include "path/dgram/packet.h"

namespace lanyard::dgram {

struct AnswerLimits {
    uint32_t packets = 8;
    uint64_t delay_ns = 200'000;
    uint64_t most_delay_ns = 20'000'000;  // where processes share processors, by the round trip
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
    // A fresh one, which may have waited for `away_ns` to be read.
    void add(uint64_t number, bool answer_now, const AnswerLimits &limits, uint64_t now_ns, uint64_t away_ns = 0);
    void copy_came(uint64_t now_ns) { due_ns_ = now_ns; }
    // Nothing below this number is worth waiting for.
    void settle(uint64_t below);

    // When an acknowledgement is due; UINT64_MAX: there is nothing to say.
    uint64_t due_ns() const { return std::min(due_ns_, repeat_ns_); }
    // All but what is not for this class to know; the latest ranges, if there are too many. It is on its way then, and repeated so much later if
    // that is worth it.
    void acknowledge(Acknowledgement &acknowledgement, uint64_t now_ns, uint64_t repeat_after_ns);

private:
    bool bit(uint64_t number) const { return words_[number % most_span / 64] >> number % 64 & 1; }
    // The first number from `from` on, before end_, that has come, or not; else end_.
    uint64_t find(uint64_t from, bool received) const;
    void advance();

    uint64_t next_, end_;
    uint64_t due_ns_ = UINT64_MAX, repeat_ns_ = UINT64_MAX;  // of what is new; of what was told
    uint64_t latest_ns_ = 0;   // when number end_ - 1 was read
    uint16_t away_us_ = 0;     // it may have waited for that
    uint32_t unanswered_ = 0;  // packets since the last acknowledgement
    uint32_t to_third_ = 0;    // packets until the third after a gap
    bool told_ = false;        // all that has come
    uint64_t words_[most_span / 64] = {};
};

}  // namespace lanyard::dgram
