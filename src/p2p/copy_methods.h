// The receiver measures with the first long messages within a node which copy method is best for the others:
//   twice     into shared buffers and out of them, by both processes at the same time
//   streamed  the same, but the receiver's stores bypass its caches
//   directly  once, between the memory of the two processes: by the receiver alone, or by both (dual_copy.h)
//
// Which method is fastest depends on the caches and the kernel. On one machine, 64 KiB take a third of the
// time when copied twice. On another, 1 MiB takes half of the time when copied directly (bench/RESULTS.md).
// So each method is tried, for each kind and size of message, until its rate no longer improves (the first
// copies touch memory for the first time), or until it was far behind two times. From then on the best method
// is used. After many more messages all are tried again, because the machine may have been busy. A receive
// buffer that has not been used lately is filled 1.5 times as fast when the caches are bypassed, a cached one
// at half the speed. Only long messages are streamed, because they hardly stay in a cache anyway.
//
// One observation is a stretch. It begins when a long message starts, and ends when none is under way any
// more. It counts if all its messages were alike and used one method. A window of messages that wait for each
// other is thus one observation. The best rate of each method counts, because disturbances only slow a copy
// down. If some messages of a stretch were diverted to another method, its rate says nothing good about the
// method on trial. It then counts only if it was far behind, because otherwise a slow method would be tried
// again in every window.
// Thread rule: the owner of the engine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/best_rate.h"

namespace lanyard {

class CopyMethods {
public:
    enum class Method : uint8_t { twice, streamed, directly };
    static constexpr int methods = 3;
    // The layout of the receive buffer; or `mapped`: the sender's bytes are mapped here, so no system call is
    // needed.
    enum class Kind : uint8_t { contiguous, in_runs, mapped };
    static constexpr int kinds = 3;
    // Classes of sizes: the first begins at 16 KiB, each of the others at twice the size, and the last has
    // all longer messages.
    static constexpr int sizes = 10;
    static constexpr uint64_t least_bytes = 16 * 1024, least_streamed_bytes = 512 * 1024;
    static constexpr int trials = 3;                  // trials without a better rate that end the search
    static constexpr uint64_t tried_anew_after = 32;  // messages for each message of a trial

    // The possible methods, the most promising first.
    using Choice = std::span<const Method>;
    static Choice choice(Kind kind, uint64_t bytes) {
        using enum Method;
        static constexpr Method short_ones[] = {twice, directly}, long_ones[] = {directly, twice};
        static constexpr Method all[] = {directly, twice, streamed};
        if (kind == Kind::contiguous && bytes >= least_streamed_bytes) return all;
        if (kind == Kind::mapped || (kind == Kind::contiguous && bytes >= 256 * 1024)) return long_ones;
        return short_ones;
    }

    struct Seen {
        BestRate<uint64_t> rate[methods];
        uint64_t tried = 0, used = 0;  // messages before the best method was known, and after that

        bool learned(Choice choice) const {
            auto is_learned = [&](Method method) {
                return rate[static_cast<int>(method)].no_better >= trials;
            };
            return std::all_of(choice.begin(), choice.end(), is_learned);
        }
        Method best(Choice choice) const {
            return *std::max_element(choice.begin(), choice.end(), [&](Method one, Method other) {
                return rate[static_cast<int>(one)].bytes_per_us < rate[static_cast<int>(other)].bytes_per_us;
            });
        }
    };

    static int size_of(uint64_t bytes) { return size_class(bytes, least_bytes, sizes); }
    const Seen &seen(Kind kind, int size) const { return seen_[static_cast<int>(kind)][size]; }

    // The method for a message that begins now. `watched`: the caller must call end() when the message is
    // complete.
    Method begin(Kind kind, uint64_t bytes, uint64_t now_ns, bool &watched) {
        int size = size_of(bytes);
        Choice possible = choice(kind, bytes);
        Seen &known = seen_[static_cast<int>(kind)][size];
        if (known.learned(possible) && ++known.used >= tried_anew_after * known.tried) known = {};
        watched = !known.learned(possible);
        if (!watched) {
            mixed_ = true;  // it may delay a watched message
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
        return stretch_.method;
    }
    // A watched message uses another method than begin() chose.
    void diverted() { diverted_ = true; }
    // A watched message is complete.
    void end(uint64_t now_ns) {
        if (--under_way_ > 0 || mixed_ || now_ns <= stretch_.since_ns) return;
        Seen &known = seen_[static_cast<int>(stretch_.kind)][stretch_.size];
        uint64_t rate = BestRate<uint64_t>::of(stretch_.bytes, now_ns - stretch_.since_ns);
        uint64_t best_of_all = rate;
        for (const auto &method : known.rate)
            best_of_all = std::max<uint64_t>(best_of_all, method.bytes_per_us);
        bool far_behind = rate < best_of_all / 4 * 3;
        if (diverted_ && !far_behind) return;
        known.rate[static_cast<int>(stretch_.method)].note(rate, trials, far_behind);
    }

private:
    // The methods take turns.
    static Method next_trial(const Seen &known, Choice methods) {
        return *std::min_element(methods.begin(), methods.end(), [&](Method one, Method other) {
            return known.rate[static_cast<int>(one)].no_better <
                   known.rate[static_cast<int>(other)].no_better;
        });
    }

    struct Stretch {
        Kind kind;
        int size;
        Method method;
        uint64_t bytes, since_ns;
    };
    Seen seen_[kinds][sizes];
    Stretch stretch_{};
    int under_way_ = 0;
    bool mixed_ = false;     // other messages were under way during this stretch
    bool diverted_ = false;  // some of its messages used another method
};

}  // namespace lanyard
