// The best rate at which something was copied, and whether further trials still improve it. Each copy method
// has one where several are tried and the fastest is kept. The best rate counts, because disturbances only
// make a copy slower. A rate that is not clearly better (by a sixteenth) suggests that the best is known. The
// first copies are slow, because they touch memory for the first time.
//
// Thread rule: one thread at a time notes rates. In memory that several processes share, which is zero at
// first, two may note at once; one of the notes is then lost.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/tally.h"

namespace lanyard {

template <class Rate>
struct BestRate {
    Tally<Rate> bytes_per_us;  // at least 1 once a rate was noted
    Tally<uint8_t> no_better;  // notes since the best rate rose, at most the number that ends the trials

    static Rate of(uint64_t bytes, uint64_t ns) {
        return static_cast<Rate>(std::max<uint64_t>(bytes * 1000 / std::max<uint64_t>(ns, 1), 1));
    }
    // `trials` notes without improvement are enough. A rate far below that of another method is `hopeless`
    // and counts twice.
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

// Class of a copy by its size. Class 0 begins at `least` bytes and each class at twice the size of the one
// before; the last class has all longer copies.
constexpr int size_class(uint64_t bytes, uint64_t least, int classes) {
    return std::clamp(static_cast<int>(std::bit_width(bytes / least)) - 1, 0, classes - 1);
}

}  // namespace lanyard
