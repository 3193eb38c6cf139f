// Which way long contributions take through the node area, learned by all ranks of a team together: directly, read through the kernel by
// each taker, or by the stage (stage.h), copied in by their owner and out by the takers. How fast each of the three copies is stands in the
// area, for what is copied and what is combined, by size; whoever copies one while they are being learned says so. The best of some
// counts, since whatever disturbs only slows. Each owner chooses for itself and its slot tells; after many uses all is tried anew.
// How long a whole collective takes is not compared, as that depends on when the others come.
// The memory is zero at first. Called by the engine's owner of each rank.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/best_rate.h"

namespace lanyard {

class CopyRates {
public:
    enum class Kind : uint8_t { copied, combined };
    enum class Part : uint8_t { direct, put, taken };  // put: into the stage, taken: from there

    // What is done in one use, in contributions: by an owner and by a taker of whom the others wait, or, by turns, by all together.
    struct Work {
        int put, taken;
        bool by_turns;  // who puts also takes, or all share processors: the one does not go on beside the other
    };

    static int size_of(int64_t bytes) { return size_class(static_cast<uint64_t>(bytes), least_bytes, sizes); }
    bool learned(Kind kind, int64_t bytes) const {
        const Seen &seen = of(kind, bytes);
        return tried(seen, Part::direct) >= trials && tried_by_stage(seen) >= trials;
    }
    // Is the stage the way for one more? While it is not known, what has been tried less often.
    bool by_stage(Kind kind, int64_t bytes, const Work &work) const {
        const Seen &seen = of(kind, bytes);
        if (!learned(kind, bytes)) return tried_by_stage(seen) <= tried(seen, Part::direct);
        double direct = work.taken / rate(seen, Part::direct), taken = work.taken / rate(seen, Part::taken);
        double put = work.put / rate(seen, Part::put);
        return (work.by_turns ? put + taken : std::max(put, taken)) < direct;
    }
    void note(Kind kind, int64_t bytes, Part part, int64_t copied, uint64_t ns) {
        of(kind, bytes).rate[static_cast<int>(part)].note(BestRate<uint32_t>::of(static_cast<uint64_t>(copied), ns), trials);
    }
    void forget(Kind kind, int64_t bytes) {
        for (auto &rate : of(kind, bytes).rate) rate.forget();
    }

    // From 8 KiB on, doubling; the last has all longer ones.
    static constexpr int sizes = 8, kinds = 2;
    // That are no better: a use may give several, and the first ones touch memory for the first time, each other entries of the stage.
    static constexpr int trials = 48;
    static constexpr uint32_t tried_anew_after = 2048;  // uses

private:
    static constexpr uint64_t least_bytes = 8 * 1024;
    struct Seen {
        BestRate<uint32_t> rate[3];
    };
    static int tried(const Seen &seen, Part part) { return seen.rate[static_cast<int>(part)].no_better; }
    static int tried_by_stage(const Seen &seen) { return std::min(tried(seen, Part::put), tried(seen, Part::taken)); }
    static double rate(const Seen &seen, Part part) { return seen.rate[static_cast<int>(part)].bytes_per_us; }
    const Seen &of(Kind kind, int64_t bytes) const { return seen_[static_cast<int>(kind)][size_of(bytes)]; }
    Seen &of(Kind kind, int64_t bytes) { return seen_[static_cast<int>(kind)][size_of(bytes)]; }

    Seen seen_[kinds][sizes];
};

}  // namespace lanyard
