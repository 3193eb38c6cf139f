// Timing in blocks: a block is as many rounds as take about --block-seconds, its mean is one sample, and the samples'
// median is reported. Means over a block are fine enough for a clock; medians over blocks shrug off interruptions.
// Called on every rank of MPI_COMM_WORLD with the same settings; one thread.
//
// A block lasts as long as its slowest rank. All ranks learn that time from the same allreduce, so they agree on the
// number of rounds of the next block without another message.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "tools/bench/job.h"
#include "tools/bench/statistics.h"

namespace lanyard::bench {

// Runs `rounds` rounds of `work` and returns the seconds the slowest rank took.
template <class Work>
double time_block(long rounds, Work& work) {
    MPI_Barrier(MPI_COMM_WORLD);
    double start = now_seconds();
    for (long i = 0; i < rounds; ++i) work();
    double mine = now_seconds() - start;
    double slowest = 0;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

// Seconds per round, one value for each block. The first, growing blocks warm up and are not kept.
template <class Work>
std::vector<double> sample(const Settings& settings, Work work) {
    long rounds = 1;
    double seconds = time_block(rounds, work);
    while (seconds < settings.block_seconds / 4) {
        rounds *= 2;
        seconds = time_block(rounds, work);
    }
    rounds = std::max(1L, std::lround(static_cast<double>(rounds) * settings.block_seconds / seconds));
    time_block(rounds, work);
    std::vector<double> samples;
    for (int block = 0; block < settings.blocks; ++block)
        samples.push_back(time_block(rounds, work) / static_cast<double>(rounds));
    return samples;
}

// `samples` with each value v replaced by change(v), summarised.
template <class Change>
Summary summarise_as(std::vector<double> samples, Change change) {
    for (double& value : samples) value = change(value);
    return summarise(std::move(samples));
}

}  // namespace lanyard::bench
