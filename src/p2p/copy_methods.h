// Chooses the copy method of long messages within a node. The receiver measures with the first messages which
// method is fastest:
//   twice     the sender copies into shared buffers, and the receiver out of them, at the same time
//   streamed  like `twice`, but the receiver's stores bypass its caches
//   directly  once, from the sender's memory to the receiver's: by the receiver alone, or by both processes
//             (dual_copy.h)
//
// Which method is fastest depends on the caches and the kernel. On one machine, 64 KiB copied twice take a
// third of the time of a direct copy. On another machine, 1 MiB copied directly takes half of the time of two
// copies (bench/RESULTS.md). So each method is tried, for each kind and size of message, until its rate no
// longer improves, or until it was far behind another method two times. (The rate improves at first because
// the first copies touch memory for the first time.) From then on the best method is used. After many more
// messages all methods are tried again, because the machine may have been busy. Bypassing the caches fills a
// receive buffer 1.5 times as fast if the buffer has not been used lately, but at half the speed if it is
// cached. Only long messages are streamed, because their bytes hardly stay in a cache anyway.
// A message is watched if its method is still on trial. Rates are measured over stretches. A stretch begins
// when a watched message starts and no other watched message is under way. It ends when no watched message is
// under way any more. The rate of a stretch counts only if all messages that began in it were watched and had
// the same kind and size class. Several messages that are under way at the same time are thus one
// measurement. Methods are compared by their best rates, because disturbances only slow a copy down. If some
// messages of a stretch were diverted to another method, a good rate proves nothing about the method on
// trial. Such a rate counts only if it is far behind. (If it never counted, a slow method would be tried
// again in every stretch.)
// Thread rule: the owner of the engine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/best_rate.h"
#include "base/bytes.h"

namespace lanyard {

class CopyMethods {
public:
    enum class Method : uint8_t { twice, streamed, directly };
    static constexpr int methods = 3;
    // The layout of the receive buffer (`contiguous`, `in_runs`), or `mapped`: the sender's bytes are mapped
    // into the receiver's memory, so that a direct copy needs no system call.
    enum class Kind : uint8_t { contiguous, in_runs, mapped };
    static constexpr int kinds = 3;
    // The number of size classes. The first class begins at 16 KiB, and each further class begins at twice
    // the size of the class before. The last class has all longer messages.
    static constexpr int sizes = 10;
    static constexpr uint64_t least_bytes = 16 * KiB, least_streamed_bytes = 512 * KiB;
    static constexpr int trials = 3;  // this many trials without a better rate end a method's search
    // The methods are tried again when the best method has been used for this many messages per message of
    // the trials.
    static constexpr uint64_t tried_anew_after = 32;

    // The possible methods, the most promising first.
    using Choice = std::span<const Method>;
    static Choice choice(Kind kind, uint64_t bytes) {
        using enum Method;
        static constexpr Method short_ones[] = {twice, directly}, long_ones[] = {directly, twice};
        static constexpr Method all[] = {directly, twice, streamed};
        if (kind == Kind::contiguous && bytes >= least_streamed_bytes) return all;
        if (kind == Kind::mapped || (kind == Kind::contiguous && bytes >= 256 * KiB)) return long_ones;
        return short_ones;
    }

    struct Seen {
        BestRate<uint64_t> rate[methods];
        uint64_t tried = 0, used = 0;  // messages before the best method was known; messages since then

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

    // The method for a message that begins now. `watched`: the caller must call end() when the message has
    // ended, even if it has failed.
    Method begin(Kind kind, uint64_t bytes, uint64_t now_ns, bool &watched) {
        int size = size_of(bytes);
        Choice possible = choice(kind, bytes);
        Seen &known = seen_[static_cast<int>(kind)][size];
        if (known.learned(possible) && ++known.used >= tried_anew_after * known.tried) known = {};
        watched = !known.learned(possible);
        if (!watched) {
            mixed_ = true;  // this message may delay a watched one
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
    // To be called if a watched message uses another method than begin() chose.
    void diverted() { diverted_ = true; }
    // To be called when a watched message has ended.
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
    // The method with the fewest trials since its rate rose, so that the methods take turns.
    static Method next_trial(const Seen &known, Choice choice) {
        return *std::min_element(choice.begin(), choice.end(), [&](Method one, Method other) {
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
    // Messages of another kind or size, or unwatched messages, began during this stretch.
    bool mixed_ = false;
    bool diverted_ = false;  // some messages of this stretch used another method
};

}  // namespace lanyard
