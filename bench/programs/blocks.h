// Defines clocks, and measures blocks of rounds. A block lasts about --block-seconds. Used by MPI programs
// (sampler.h), bench-tcp and bench-udp. One thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <utility>
#include <vector>

#include "bench/programs/settings.h"
#include "bench/programs/statistics.h"

namespace lanyard::bench {

inline double now_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Returns the processor time of all threads of this process.
inline double processor_seconds() {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

// Seconds per round, one value for each block. `rounds` is the number of all rounds, including those that
// warmed up.
struct Samples : std::vector<double> {
    long rounds = 0;
};

// Measures blocks and returns the seconds per round. `block(rounds)` must run that many rounds and return
// their seconds, the same value on every rank. The first blocks determine the number of rounds in a block and
// warm up. Their values are not kept.
template <class Block>
Samples sample_blocks(const Settings& settings, Block block) {
    Samples samples;
    auto run = [&](long rounds) {
        samples.rounds += rounds;
        return block(rounds);
    };
    long rounds = 1;
    double seconds = run(rounds);
    while (seconds < settings.block_seconds / 4) {
        rounds *= 2;
        seconds = run(rounds);
    }
    rounds = std::max(1L, std::lround(static_cast<double>(rounds) * settings.block_seconds / seconds));
    run(rounds);
    for (int i = 0; i < settings.blocks; ++i) samples.push_back(run(rounds) / static_cast<double>(rounds));
    return samples;
}

// Summarises the samples after each value v has been replaced by change(v).
template <class Change>
Summary summarise_as(std::vector<double> samples, Change change) {
    for (double& value : samples) value = change(value);
    return summarise(std::move(samples));
}

}  // namespace lanyard::bench
