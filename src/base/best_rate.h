// A BestRate holds the best rate at which one copy method has copied, and shows whether further trials still
// improve this rate. Code that tries several copy methods has a BestRate for each method, and keeps the
// fastest method. The best rate counts, because disturbances only make a copy slower. A rate that is not
// clearly better (by a sixteenth) suggests that the best rate is known. The first copies are slow, because
// they touch memory for the first time.
//
// Thread rule: one thread at a time notes rates. A BestRate may also lie in memory that several processes
// share and that is zero at first. If two processes note a rate at the same time, one of the notes is lost.
// Tested by: tests/unit/p2p/copy_methods_test.cc, tests/unit/coll/shm/node_area_test.cc.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/tally.h"

namespace lanyard {

template <class Rate>
struct BestRate {
    Tally<Rate> bytes_per_us;  // at least 1 once a rate was noted
    Tally<uint8_t> no_better;  // notes since the rate clearly rose; stops at the number that ends the trials

    static Rate of(uint64_t bytes, uint64_t ns) {
        return static_cast<Rate>(std::max<uint64_t>(bytes * 1000 / std::max<uint64_t>(ns, 1), 1));
    }
    // Notes the rate of one copy. `trials` is the number of notes without improvement that ends the trials.
    // `hopeless`: the rate is far below that of another method, so the note counts twice.
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

// Returns the class of a copy by its size. Class 0 begins at `least` bytes, and each further class begins at
// twice the size of the class before. Shorter copies are in class 0, and longer ones in the last class.
constexpr int size_class(uint64_t bytes, uint64_t least, int classes) {
    return std::clamp(static_cast<int>(std::bit_width(bytes / least)) - 1, 0, classes - 1);
}

}  // namespace lanyard
