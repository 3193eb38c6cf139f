// Which way long messages take within a node, learned by the receiver from the first of them:
//   twice     in and out of shared buffers, by both sides at the same time
//   directly  once, between the two processes' memory: by the receiver, or from both ends (both_sides.cc)
// Which is faster depends on caches and kernel: 64 KiB come 3 times as fast the one way on one machine, 1 MiB twice as fast the other way on
// another (bench/RESULTS.md). So each way is tried for each kind and size of message until it gets no better, as the first ones touch memory for the
// first time, and the better way is taken from then on; after many messages they are tried anew, as the machine may have been busy.
//
// Observed are stretches: from a time at which no long message is on its way to here until there is none again, if all of them were alike and
// went one way. So a window of messages is one observation, whose messages wait for each other. The best rate of each way counts, since
// whatever disturbs only slows.
// Thread rule: the owner of the engine.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/tally.h"

namespace lanyard {

class Ways {
public:
    enum class Way : uint8_t { twice, directly };
    static constexpr int ways = 2;
    // By the receive buffer, and whether the sender's bytes are mapped here: then no kernel stands between.
    enum class Kind : uint8_t { contiguous, in_runs, mapped };
    static constexpr int kinds = 3;
    // From 16 KiB on, doubling; the last has all longer ones.
    static constexpr int sizes = 10;
    static constexpr uint64_t least_bytes = 16 * 1024;
    static constexpr int trials = 3;  // that are no better
    static constexpr uint32_t tried_anew_after = 1024;  // messages

    struct Seen {
        Tally<uint64_t> bytes_per_us[ways];  // the best
        uint8_t no_better[ways] = {};  // trials since then
        uint32_t uses = 0;  // since it was learned

        bool learned() const { return no_better[0] >= trials && no_better[1] >= trials; }
        Way better() const { return bytes_per_us[0] >= bytes_per_us[1] ? Way::twice : Way::directly; }
    };

    static int size_of(uint64_t bytes) {
        return std::clamp(static_cast<int>(std::bit_width(bytes / least_bytes)) - 1, 0, sizes - 1);
    }
    const Seen &seen(Kind kind, int size) const { return seen_[static_cast<int>(kind)][size]; }

    // The way for one more message, which begins now. `watched`: end() is to be called when it is over.
    Way begin(Kind kind, uint64_t bytes, uint64_t now_ns, bool &watched) {
        int size = size_of(bytes);
        Seen &known = seen_[static_cast<int>(kind)][size];
        if (known.learned() && ++known.uses == tried_anew_after) known = {};
        watched = !known.learned();
        if (!watched) {
            mixed_ = true;  // it may hold up one that is watched
            return known.better();
        }
        if (under_way_++ == 0) {
            stretch_ = {kind, size, next_trial(known, kind, bytes), 0, now_ns};
            mixed_ = false;
        } else if (stretch_.kind != kind || stretch_.size != size) {
            mixed_ = true;
        }
        stretch_.bytes += bytes;
        return stretch_.way;
    }
    // A watched message goes another way than begin() said.
    void diverted() { mixed_ = true; }
    void end(uint64_t now_ns) {
        if (--under_way_ > 0 || mixed_ || now_ns <= stretch_.since_ns) return;
        Seen &known = seen_[static_cast<int>(stretch_.kind)][stretch_.size];
        auto way = static_cast<int>(stretch_.way);
        uint64_t rate = stretch_.bytes * 1000 / (now_ns - stretch_.since_ns);
        uint64_t best = known.bytes_per_us[way];
        if (rate > best) known.bytes_per_us[way] = rate;
        if (rate > best + best / 16) known.no_better[way] = 0;
        else if (known.no_better[way] < trials) ++known.no_better[way];
    }

private:
    // By turns, beginning with what is the better one more often.
    static Way next_trial(const Seen &known, Kind kind, uint64_t bytes) {
        if (known.no_better[0] != known.no_better[1]) return known.no_better[0] < known.no_better[1] ? Way::twice : Way::directly;
        return kind == Kind::in_runs || (kind == Kind::contiguous && bytes < 256 * 1024) ? Way::twice : Way::directly;
    }

    struct Stretch {
        Kind kind;
        int size;
        Way way;
        uint64_t bytes, since_ns;
    };
    Seen seen_[kinds][sizes];
    Stretch stretch_{};
    int under_way_ = 0;
    bool mixed_ = false;
};

}  // namespace lanyard
