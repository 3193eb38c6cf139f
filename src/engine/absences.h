// Absences records how long the program stays away when it leaves MPI with something under way. A spell lasts
// from leaving MPI until the program waits for what is under way, or until nothing is under way any more.
// Some programs compute during a spell; others return at once. After several spells in a row without an
// absence as long as brief_ns, the program is expected back at once.
// Thread rule: begin() and end_spell() by a thread of the program that owns the engine; end() by any thread
// of the program; the rest by any thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace lanyard {

class Absences {
public:
    static constexpr uint64_t brief_ns = 50'000;

    // begin(): the program is about to leave with something under way. end(): it is back.
    void begin() { left_ns_.store(clock_ns(), std::memory_order_relaxed); }
    void end() {
        if (left_ns_.load(std::memory_order_relaxed)) note_end();
    }
    // Ends the spell: what was under way when the program left is over, or a thread waits for it.
    void end_spell() {
        if (longest_ns_.load(std::memory_order_relaxed)) judge_spell();
    }
    bool are_long() const { return brief_spells_.load(std::memory_order_relaxed) < enough_brief_spells; }
    // Is the program away with something under way?
    bool lasts() const { return left_ns_.load(std::memory_order_relaxed) != 0; }
    // Has it been away for at least this time?
    bool lasts(uint64_t least_ns) const {
        uint64_t left_ns = left_ns_.load(std::memory_order_relaxed);
        return left_ns && clock_ns() - left_ns >= least_ns;
    }

private:
    static constexpr uint32_t enough_brief_spells = 8;

    void note_end() {
        uint64_t left_ns = left_ns_.exchange(0, std::memory_order_relaxed), now_ns = clock_ns();
        if (left_ns == 0 || left_ns >= now_ns) return;  // another thread has ended it, or no time has passed
        longest_ns_.store(std::max(longest_ns_.load(std::memory_order_relaxed), now_ns - left_ns),
                          std::memory_order_relaxed);
    }
    void judge_spell() {
        bool brief = longest_ns_.exchange(0, std::memory_order_relaxed) < brief_ns;
        brief_spells_.store(brief ? brief_spells_.load(std::memory_order_relaxed) + 1 : 0,
                            std::memory_order_relaxed);
    }

    // When the program left MPI; 0: it is inside MPI, or left with nothing under way.
    std::atomic<uint64_t> left_ns_{0};
    std::atomic<uint64_t> longest_ns_{0};    // the longest absence of this spell
    std::atomic<uint32_t> brief_spells_{0};  // number of brief spells in a row
};

}  // namespace lanyard
