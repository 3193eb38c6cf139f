// How long a program stays away that leaves MPI with something under way. Between leaving and waiting for it (a spell) some programs compute,
// others come back at once. After several spells running without an absence of brief_ns a program is expected back at once.
// Thread rule: begin() and end_spell() by a thread of the program that owns the engine; end() by any thread of the program; cut_short() by the
// helper; the rest by any thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace lanyard {

class Absences {
public:
    static constexpr uint64_t brief_ns = 50'000;

    // It is about to leave with something under way; and is back.
    void begin() { left_ns_.store(clock_ns(), std::memory_order_relaxed); }
    void end() {
        if (left_ns_.load(std::memory_order_relaxed)) note_end();
    }
    // What was under way when the program left is over, or a thread waits for it.
    void end_spell() {
        if (longest_ns_.load(std::memory_order_relaxed)) judge_spell();
    }
    // The helper takes the engine: the program will not see that this absence ends.
    void cut_short() {
        if (left_ns_.exchange(0, std::memory_order_relaxed)) brief_spells_.store(0, std::memory_order_relaxed);
    }

    bool are_long() const { return brief_spells_.load(std::memory_order_relaxed) < enough_brief_spells; }
    // Is it away since then at least?
    bool lasts(uint64_t least_ns) const {
        uint64_t left_ns = left_ns_.load(std::memory_order_relaxed);
        return left_ns && clock_ns() - left_ns >= least_ns;
    }

private:
    static constexpr uint32_t enough_brief_spells = 8;

    void note_end() {
        uint64_t left_ns = left_ns_.exchange(0, std::memory_order_relaxed), now_ns = clock_ns();
        if (left_ns == 0 || left_ns >= now_ns) return;  // another thread was first
        longest_ns_.store(std::max(longest_ns_.load(std::memory_order_relaxed), now_ns - left_ns), std::memory_order_relaxed);
    }
    void judge_spell() {
        bool brief = longest_ns_.exchange(0, std::memory_order_relaxed) < brief_ns;
        brief_spells_.store(brief ? brief_spells_.load(std::memory_order_relaxed) + 1 : 0, std::memory_order_relaxed);
    }

    std::atomic<uint64_t> left_ns_{0};       // 0: it is inside, or left with nothing under way
    std::atomic<uint64_t> longest_ns_{0};    // of this spell
    std::atomic<uint32_t> brief_spells_{0};  // running
};

}  // namespace lanyard
