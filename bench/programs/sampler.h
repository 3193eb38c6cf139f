// Measures time in blocks. A block consists of so many rounds that it lasts about --block-seconds. The mean
// of its rounds is one sample, and the median of the samples is reported. A block is long enough for the
// resolution of the clock, and the median over blocks ignores interruptions. Called on every rank of
// MPI_COMM_WORLD with the same settings. One thread.
//
// The time of a block is that of its slowest rank. All ranks get this time from one allreduce, so they agree
// on the number of rounds of the next block without a further message.
#pragma once

#include <vector>

#include "bench/programs/blocks.h"
#include "bench/programs/job.h"

namespace lanyard::bench {

// Runs `rounds` rounds of `work` and returns the seconds of the slowest rank.
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

// Measures the seconds per round. Each sample is the mean of one block; see sample_blocks().
template <class Work>
Samples sample(const Settings& settings, Work work) {
    return sample_blocks(settings, [&](long rounds) { return time_block(rounds, work); });
}

// Does the same, but each block's sample is a percentile (--percentile) by this rank's clock instead of the
// mean.
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
