// The rates of long contributions through the node area, learned by all ranks of a team together. They are
// copied directly, read through the kernel by each taker, or by the stage (stage.h), where their owner copies
// them in and the takers copy them out. The rate of each of these three copies is in the area, by size, for
// data that is copied and data that is combined. A rank that makes such a copy notes its rate while rates are
// being learned. The best of some counts, because disturbances only slow a copy down. Each owner chooses for
// itself and states the choice in its slot. After many uses, everything is tried again. The time of a whole
// collective is not compared, because it depends on when the others arrive. The memory is zero at first.
// Thread rule: the owner of the engine, in each rank.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/best_rate.h"

namespace lanyard {

class CopyRates {
public:
    enum class Kind : uint8_t { copied, combined };
    enum class Part : uint8_t { direct, put, taken };  // put: into the stage, taken: from there

    // The copies of one use, in contributions: by an owner and by a taker for which the others wait or, if
    // they take turns, by all together.
    struct Work {
        int put, taken;
        bool by_turns;  // the two do not overlap: an owner also takes, or ranks share processors
    };

    static int size_of(int64_t bytes) { return size_class(static_cast<uint64_t>(bytes), least_bytes, sizes); }
    bool learned(Kind kind, int64_t bytes) const {
        const Seen &seen = of(kind, bytes);
        return tried(seen, Part::direct) >= trials && tried_by_stage(seen) >= trials;
    }
    // Is the stage the better method for one more? While this is unknown, the method that was tried less
    // often is taken.
    bool by_stage(Kind kind, int64_t bytes, const Work &work) const {
        const Seen &seen = of(kind, bytes);
        if (!learned(kind, bytes)) return tried_by_stage(seen) <= tried(seen, Part::direct);
        double direct = work.taken / rate(seen, Part::direct), taken = work.taken / rate(seen, Part::taken);
        double put = work.put / rate(seen, Part::put);
        return (work.by_turns ? put + taken : std::max(put, taken)) < direct;
    }
    void note(Kind kind, int64_t bytes, Part part, int64_t copied, uint64_t ns) {
        of(kind, bytes)
            .rate[static_cast<int>(part)]
            .note(BestRate<uint32_t>::of(static_cast<uint64_t>(copied), ns), trials);
    }
    void forget(Kind kind, int64_t bytes) {
        for (auto &rate : of(kind, bytes).rate) rate.forget();
    }

    // Classes of sizes: the first begins at 8 KiB, each of the others at twice the size, and the last has all
    // longer ones.
    static constexpr int sizes = 8, kinds = 2;
    // Copies without a better rate that end the search. One use may give several. The first ones touch memory
    // for the first time, and each touches other entries of the stage.
    static constexpr int trials = 48;
    static constexpr uint32_t tried_anew_after = 2048;  // uses

private:
    static constexpr uint64_t least_bytes = 8 * 1024;
    struct Seen {
        BestRate<uint32_t> rate[3];
    };
    static int tried(const Seen &seen, Part part) { return seen.rate[static_cast<int>(part)].no_better; }
    static int tried_by_stage(const Seen &seen) {
        return std::min(tried(seen, Part::put), tried(seen, Part::taken));
    }
    static double rate(const Seen &seen, Part part) { return seen.rate[static_cast<int>(part)].bytes_per_us; }
    const Seen &of(Kind kind, int64_t bytes) const { return seen_[static_cast<int>(kind)][size_of(bytes)]; }
    Seen &of(Kind kind, int64_t bytes) { return seen_[static_cast<int>(kind)][size_of(bytes)]; }

    Seen seen_[kinds][sizes];
};

}  // namespace lanyard
