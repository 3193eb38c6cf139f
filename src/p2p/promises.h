// Stores, for each context, what the program has promised about receives on its communicator by info keys
// (MPI-5.0 7.4.4). The library looks promises up where they save work, and where it can report a broken
// promise without extra work. It does not look them up for ordinary messages.
// Thread rule: any thread. One short lock.
// Tested by: tests/unit/p2p/match_test.cc, tests/mpi/comm/hints.cc.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/spin_lock.h"

namespace lanyard {

namespace promise {
constexpr uint8_t no_any_source = 1;
constexpr uint8_t no_any_tag = 2;
constexpr uint8_t exact_length = 4;      // a message has the same length as the receive that takes it
constexpr uint8_t allow_overtaking = 8;  // messages may be matched out of order
constexpr uint8_t no_wildcards = no_any_source | no_any_tag;
}  // namespace promise

class Promises {
public:
    bool any() const { return any_.load(std::memory_order_relaxed); }
    uint8_t of(uint64_t context) const {
        SpinGuard guard(lock_);
        auto place = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair(context, uint8_t{0}));
        return place != sorted_.end() && place->first == context ? place->second : uint8_t{0};
    }
    // Replaces the promises of this context; 0: no promises.
    void set(uint64_t context, uint8_t promised) {
        SpinGuard guard(lock_);
        auto place = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair(context, uint8_t{0}));
        bool known = place != sorted_.end() && place->first == context;
        if (known && promised) place->second = promised;
        else if (known) sorted_.erase(place);
        else if (promised) sorted_.insert(place, {context, promised});
        any_.store(!sorted_.empty(), std::memory_order_relaxed);
    }

private:
    mutable SpinLock lock_;
    std::vector<std::pair<uint64_t, uint8_t>> sorted_;
    std::atomic<bool> any_{false};
};

}  // namespace lanyard
