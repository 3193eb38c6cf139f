// How fast something was copied at best, and whether trying again still shows it faster: what is learned of each way to copy, where several
// are tried and the fastest is kept. The best rate counts, since whatever disturbs only slows; a rate that is not clearly better
// (by a sixteenth) says that the best is known, and the first copies are slow, as they touch memory for the first time.
//
// One thread at a time notes rates. In memory of several processes, which is zero at first, two may do so: one of the notes is lost then.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/tally.h"

namespace lanyard {

template <class Rate>
struct BestRate {
    Tally<Rate> bytes_per_us;  // at least 1 once something was noted
    Tally<uint8_t> no_better;  // notes since it became better, at most as many as end the trials

    static Rate of(uint64_t bytes, uint64_t ns) {
        return static_cast<Rate>(std::max<uint64_t>(bytes * 1000 / std::max<uint64_t>(ns, 1), 1));
    }
    // `trials` that are no better are enough. A rate far below that of another way, which is `hopeless`, counts twice.
    void note(Rate rate, int trials, bool hopeless = false) {
        Rate best = bytes_per_us;
        if (rate > best) bytes_per_us = rate;
        bool better = rate > best + best / 16 && !hopeless;
        no_better = static_cast<uint8_t>(better ? 0 : std::min(trials, no_better + 1 + hopeless));
    }
    void forget() {
        bytes_per_us = 0;
        no_better = 0;
    }
};

// Copies of similar size, from `least` bytes on, doubling; the last of the classes has all longer ones.
constexpr int size_class(uint64_t bytes, uint64_t least, int classes) {
    return std::clamp(static_cast<int>(std::bit_width(bytes / least)) - 1, 0, classes - 1);
}

}  // namespace lanyard
