// See arrivals.h.
#include "path/dgram/arrivals.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace lanyard::dgram {

namespace {

constexpr uint16_t least_away_us = 50;  // less is not worth two bytes

uint16_t in_us(uint64_t ns) { return static_cast<uint16_t>(std::min<uint64_t>(ns / 1000, UINT16_MAX)); }

}  // namespace

void Arrivals::add(uint64_t number, bool answer_now, const AnswerLimits &limits, uint64_t now_ns,
                   uint64_t away_ns) {
    bool in_order = number == end_;
    words_[number % most_span / 64] |= uint64_t{1} << number % 64;
    if (number >= end_) {
        end_ = number + 1;
        latest_ns_ = now_ns;
        away_us_ = in_us(away_ns);
    }
    if (number == next_) advance();

    ++unanswered_;
    told_ = false;
    repeat_ns_ = UINT64_MAX;
    bool third = to_third_ > 0 && --to_third_ == 0;
    if (!in_order && number + 1 == end_) to_third_ = 2;
    if (answer_now || !in_order || third || unanswered_ >= limits.packets)
        due_ns_ = std::min(due_ns_, now_ns);
    else due_ns_ = std::min(due_ns_, now_ns + limits.delay_ns);
}

// Moves next_ past the numbers that have arrived. Clears the bits of these numbers, since the places of the
// bits are used again.
void Arrivals::advance() {
    while (next_ < end_ && bit(next_)) {
        words_[next_ % most_span / 64] &= ~(uint64_t{1} << next_ % 64);
        ++next_;
    }
}

void Arrivals::move_on(uint64_t below) {
    if (below <= next_) return;
    for (; next_ < std::min(below, end_); ++next_)
        words_[next_ % most_span / 64] &= ~(uint64_t{1} << next_ % 64);
    next_ = below;
    end_ = std::max(end_, next_);
    advance();
}

uint64_t Arrivals::find(uint64_t from, bool received) const {
    while (from < end_) {
        uint64_t word = words_[from % most_span / 64];
        uint64_t wanted = (received ? word : ~word) >> from % 64;
        if (wanted) return std::min(end_, from + static_cast<uint64_t>(std::countr_zero(wanted)));
        from += 64 - from % 64;
    }
    return end_;
}

void Arrivals::acknowledge(Acknowledgement &acknowledgement, uint64_t now_ns, uint64_t repeat_after_ns) {
    acknowledgement.cumulative = static_cast<uint32_t>(next_);
    acknowledgement.delay_us = in_us(now_ns - std::min(now_ns, latest_ns_));
    acknowledgement.away_us = away_us_ < least_away_us ? 0 : away_us_;
    Range latest[most_ranges];
    uint32_t found = 0;
    for (uint64_t begin = find(next_, true); begin < end_;) {
        uint64_t end = find(begin, false);
        latest[found++ % most_ranges] = {static_cast<uint16_t>(begin - next_),
                                         static_cast<uint16_t>(end - begin)};
        begin = find(end, true);
    }
    acknowledgement.count = std::min(found, most_ranges);
    for (uint32_t i = 0; i < acknowledgement.count; ++i)
        acknowledgement.ranges[i] = latest[(found - acknowledgement.count + i) % most_ranges];
    due_ns_ = UINT64_MAX;
    repeat_ns_ = !std::exchange(told_, true) && gaps() ? now_ns + repeat_after_ns : UINT64_MAX;
    unanswered_ = 0;
}

}  // namespace lanyard::dgram
