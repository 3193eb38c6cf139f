// Defines two cache lines that two processes bounce between them. The time of a bounce is the least cost of a
// message through shared memory. Used by bench-line and bench-limits. Each line has one writer. In a round,
// one side sets `ping` and the other side answers with `pong`. The counters never repeat within a block and
// are never reset, so a side that is late cannot miss a round.
#pragma once

#include <atomic>
#include <cstdint>

namespace lanyard::bench {

struct SharedLine {
    // Each line has 128 bytes, because common processors fetch neighbouring lines in pairs.
    alignas(128) std::atomic<std::uint32_t> ping{0};
    alignas(128) std::atomic<std::uint32_t> pong{0};

    // One side calls bounce(), and the other side answer() with the same arguments. The rounds are first+1 to
    // first+rounds.
    void bounce(std::uint32_t first, std::uint32_t rounds) {
        for (std::uint32_t round = first + 1; round != first + rounds + 1; ++round) {
            ping.store(round, std::memory_order_release);
            while (pong.load(std::memory_order_acquire) != round) {}
        }
    }
    void answer(std::uint32_t first, std::uint32_t rounds) {
        for (std::uint32_t round = first + 1; round != first + rounds + 1; ++round) {
            while (ping.load(std::memory_order_acquire) != round) {}
            pong.store(round, std::memory_order_release);
        }
    }
};
static_assert(sizeof(SharedLine) == 256 && std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace lanyard::bench
