// Timing in blocks: a block is as many rounds as take about --block-seconds, its mean is one sample, and the samples'
// median is reported. Means over a block are fine enough for a clock; medians over blocks shrug off interruptions.
// Called on every rank of MPI_COMM_WORLD with the same settings; one thread.
//
// A block lasts as long as its slowest rank. All ranks learn that time from the same allreduce, so they agree on the
// number of rounds of the next block without another message.
#pragma once

#include <vector>

#include "bench/programs/blocks.h"
#include "bench/programs/job.h"

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

// Seconds per round, one value for each block; see sample_blocks.
template <class Work>
Samples sample(const Settings& settings, Work work) {
    return sample_blocks(settings, [&](long rounds) { return time_block(rounds, work); });
}

// The same with each block's percentile of --percentile in the place of its mean, by this rank's clock.
template <class Work>
Samples sample_percentiles(const Settings& settings, Work work) {
    std::vector<double> seconds, percentiles;
    auto timed = [&] {
        double start = now_seconds();
        work();
        seconds.push_back(now_seconds() - start);
    };
    Samples samples = sample_blocks(settings, [&](long rounds) {
        seconds.clear();
        double block = time_block(rounds, timed);
        percentiles.push_back(percentile_of(seconds, settings.percentile));
        return block;
    });
    samples.assign(percentiles.end() - settings.blocks, percentiles.end());
    return samples;
}

}  // namespace lanyard::bench
