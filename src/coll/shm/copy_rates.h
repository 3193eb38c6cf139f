// Holds the rates at which long contributions to collectives are copied within a node. All ranks of a team
// learn these rates together. There are three kinds of copies. If a contribution is copied directly, each
// rank that takes it ("taker") reads it through the kernel. If it goes through the stage (stage.h), its owner
// copies it into the stage, and the takers copy it out. The node area has the rate of each kind of copy, by
// size, for data that is only copied and for data that is combined. While rates are being learned, a rank
// that makes such a copy records the rate of the copy. The best of several rates counts, because disturbances
// only slow a copy down. Each owner chooses the method for its contribution and states the choice in its
// slot. After many uses, all methods are tried again. The times of whole collectives are not compared,
// because they depend on when the other ranks arrive. The object lies in the node area, whose memory is zero
// at first.
// Thread rule: the owner of the engine, in each rank.
// Tested by: tests/unit/coll/shm/node_area_test.cc.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/best_rate.h"
#include "base/bytes.h"

namespace lanyard {

class CopyRates {
public:
    enum class Kind : uint8_t { copied, combined };
    enum class Part : uint8_t { direct, put, taken };  // put: into the stage; taken: out of the stage

    // States how many contributions are copied in one use. `put`: by one owner, into the stage. `taken`: by
    // the taker for which the others wait. Only the ratio of the two matters. If ranks share processors, it
    // is the ratio of the sums for all owners and takers.
    struct Work {
        int put, taken;
        bool by_turns;  // the copies do not overlap, because owners also take, or ranks share processors
    };

    static int size_of(int64_t bytes) { return size_class(static_cast<uint64_t>(bytes), least_bytes, sizes); }
    bool learned(Kind kind, int64_t bytes) const {
        const Seen &seen = of(kind, bytes);
        return tried(seen, Part::direct) >= trials && tried_by_stage(seen) >= trials;
    }
    // Should the next contribution go through the stage? While rates are being learned, chooses the method
    // that has had fewer copies since its rate last rose clearly.
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

    // The number of size classes. The first begins at 8 KiB, each of the others at twice the size of the one
    // before, and the last has all longer contributions.
    static constexpr int sizes = 8, kinds = 2;
    // A rate is learned after this many copies in a row without a clearly better rate. One use may have
    // several copies. The number is large because early copies are slow: each touches other entries of the
    // stage, whose memory is used for the first time.
    static constexpr int trials = 48;
    static constexpr uint32_t tried_anew_after = 2048;  // uses

private:
    static constexpr uint64_t least_bytes = 8 * KiB;
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
