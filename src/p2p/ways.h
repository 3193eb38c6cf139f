// Which way long messages take within a node, learned by the receiver from the first of them:
//   twice     in and out of shared buffers, by both sides at the same time
//   streamed  the same, but out of them past the receiver's caches
//   directly  once, between the two processes' memory: by the receiver, or from both ends (dual_copy.h)
// Which is faster depends on caches and kernel: 64 KiB come 3 times as fast the one way on one machine, 1 MiB twice as fast the other way on
// another (bench/RESULTS.md). So each way is tried for each kind and size of message until it gets no better, as the first ones touch
// memory for the first time, or until it is far behind twice. The best one is taken from then on; after many more messages they are tried
// anew, as the machine may have been busy.
// A receive buffer that has not been used lately is filled 1.5 times as fast past the caches, one that is in a cache at half the speed. Only
// long messages are streamed, which hardly stay in a cache until the program reads them.
//
// Observed are stretches: from a time at which no long message is on its way to here until there is none again, if all of them were alike and
// went one way. So a window of messages is one observation, whose messages wait for each other. The best rate of each way counts, since
// whatever disturbs only slows. A stretch of which some messages went another way in the end says nothing good of the way that was tried.
// It counts where even so it was far behind, or a way that is slow would be tried again with each window.
// Thread rule: the owner of the engine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/best_rate.h"

namespace lanyard {

class Ways {
public:
    enum class Way : uint8_t { twice, streamed, directly };
    static constexpr int ways = 3;
    // By the receive buffer, and whether the sender's bytes are mapped here: then no kernel stands between.
    enum class Kind : uint8_t { contiguous, in_runs, mapped };
    static constexpr int kinds = 3;
    // From 16 KiB on, doubling; the last has all longer ones.
    static constexpr int sizes = 10;
    static constexpr uint64_t least_bytes = 16 * 1024, least_streamed_bytes = 512 * 1024;
    static constexpr int trials = 3;  // that are no better
    static constexpr uint64_t tried_anew_after = 32;    // messages for each that was one of a trial

    // What there is to choose from, what is likely to be the best first.
    using Choice = std::span<const Way>;
    static Choice choice(Kind kind, uint64_t bytes) {
        using enum Way;
        static constexpr Way short_ones[] = {twice, directly}, long_ones[] = {directly, twice}, all[] = {directly, twice, streamed};
        if (kind == Kind::contiguous && bytes >= least_streamed_bytes) return all;
        if (kind == Kind::mapped || (kind == Kind::contiguous && bytes >= 256 * 1024)) return long_ones;
        return short_ones;
    }

    struct Seen {
        BestRate<uint64_t> rate[ways];
        uint64_t tried = 0, used = 0;  // messages before it was learned, and since then

        bool learned(Choice choice) const {
            return std::all_of(choice.begin(), choice.end(), [&](Way way) { return rate[static_cast<int>(way)].no_better >= trials; });
        }
        Way best(Choice choice) const {
            return *std::max_element(choice.begin(), choice.end(), [&](Way one, Way other) {
                return rate[static_cast<int>(one)].bytes_per_us < rate[static_cast<int>(other)].bytes_per_us;
            });
        }
    };

    static int size_of(uint64_t bytes) { return size_class(bytes, least_bytes, sizes); }
    const Seen &seen(Kind kind, int size) const { return seen_[static_cast<int>(kind)][size]; }

    // The way for one more message, which begins now. `watched`: end() is to be called when it is over.
    Way begin(Kind kind, uint64_t bytes, uint64_t now_ns, bool &watched) {
        int size = size_of(bytes);
        Choice possible = choice(kind, bytes);
        Seen &known = seen_[static_cast<int>(kind)][size];
        if (known.learned(possible) && ++known.used >= tried_anew_after * known.tried) known = {};
        watched = !known.learned(possible);
        if (!watched) {
            mixed_ = true;  // it may hold up one that is watched
            return known.best(possible);
        }
        if (under_way_++ == 0) {
            stretch_ = {kind, size, next_trial(known, possible), 0, now_ns};
            mixed_ = diverted_ = false;
        } else if (stretch_.kind != kind || stretch_.size != size) {
            mixed_ = true;
        }
        stretch_.bytes += bytes;
        ++known.tried;
        return stretch_.way;
    }
    // A watched message goes another way than begin() said.
    void diverted() { diverted_ = true; }
    void end(uint64_t now_ns) {
        if (--under_way_ > 0 || mixed_ || now_ns <= stretch_.since_ns) return;
        Seen &known = seen_[static_cast<int>(stretch_.kind)][stretch_.size];
        uint64_t rate = BestRate<uint64_t>::of(stretch_.bytes, now_ns - stretch_.since_ns), best_of_all = rate;
        for (const auto &way : known.rate) best_of_all = std::max<uint64_t>(best_of_all, way.bytes_per_us);
        bool far_behind = rate < best_of_all / 4 * 3;
        if (diverted_ && !far_behind) return;
        known.rate[static_cast<int>(stretch_.way)].note(rate, trials, far_behind);
    }

private:
    // By turns.
    static Way next_trial(const Seen &known, Choice ways) {
        return *std::min_element(ways.begin(), ways.end(), [&](Way one, Way other) {
            return known.rate[static_cast<int>(one)].no_better < known.rate[static_cast<int>(other)].no_better;
        });
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
    bool mixed_ = false;     // others were on their way during this stretch,
    bool diverted_ = false;  // or some of its own went another way
};

}  // namespace lanyard
