// How much of a transfer passes while the program works: the measuring that bench-overlap (MPI) and bench-tcp (a thread in
// epoll) share. One thread.
//
//   C   the transfer alone                   post, wait
//   W   a number of iterations alone         work                  without a call, chosen to last 1.2 C
//   T   both                                 post, work, wait
//
// Overlap is 1 - (T - W) / C with medians: 1 where the transfer took no time of its own, 0 where it began with the wait.
// The wait in T and T itself are the two figures of Majumder's thesis (4.10 and 4.11). The work is slowed by as much as
// it lasted longer in T than in W: that is the price of what moved the bytes meanwhile. A link that has rested lets a burst
// pass at once, as a lab's does, and a short transfer would be gone before there is anything to overlap with: so C and T both
// follow transfers that do not count and together are longer than a burst.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <vector>

#include "bench/programs/blocks.h"
#include "bench/programs/report.h"

namespace lanyard::bench {

constexpr double work_per_transfer = 1.2;
constexpr std::size_t burst_bytes = 256 << 10;  // twice what a lab's link of 1 Gbit/s lets pass
constexpr std::size_t least_overlapped_bytes = 16 << 10;  // shorter ones pass within a burst all the same
constexpr const char* overlap_sizes = "16k-16M";
constexpr int overlap_blocks = 15;

// The work: increments that no compiler merges, all in registers. Returns its seconds.
double work(long iterations);

// Iterations a second, from a few short runs.
double work_rate();

// One transfer with work between post and wait; seconds.
struct Lap {
    double total = 0;
    double work = 0;
    double wait = 0;
};

// The laps of one size, and the rows they become.
class OverlapFigures {
public:
    void add(const Lap& alone, std::initializer_list<double> work_seconds, const Lap& both);

    // `part` names what was measured ("receive").
    void report(Report& report, const std::string& part, std::size_t bytes) const;

private:
    std::vector<double> alone_, work_, total_, wait_, slowed_;
};

// Measures one size. `lap(iterations)` does one transfer with so much work in it, `work_alone` the work without it, and
// `agree` makes the number of iterations the same wherever it must be. A rank that only helps returns zeros and reports
// nothing.
template <class MakeLap, class Work, class Agree>
void measure_overlap(const Settings& settings, const std::string& part, std::size_t bytes, Report& report, MakeLap lap,
                     Work work_alone, Agree agree) {
    long laps = 0;
    auto counted = [&](long work_meanwhile) {
        ++laps;
        return lap(work_meanwhile);
    };
    auto fill_link = [&] {
        for (std::size_t passed = 0; passed < burst_bytes; passed += std::max(bytes, least_overlapped_bytes)) counted(0);
    };
    double rate = work_rate();
    long iterations = settings.iterations;
    // Processors change their pace: the last passes measure it with work that lasts as long as it will.
    for (int pass = 0; pass < 3 && settings.iterations == 0; ++pass) {
        std::vector<double> first, worked;
        for (int i = 0; i < 5; ++i) {
            worked.push_back(work_alone(iterations));
            fill_link();
            first.push_back(counted(0).total);
        }
        double seconds = summarise(worked).median;
        if (iterations > 0 && seconds > 0) rate = static_cast<double>(iterations) / seconds;
        iterations = agree(std::max(1L, std::lround(work_per_transfer * summarise(first).median * rate)));
    }
    OverlapFigures figures;
    for (int block = 0; block < settings.blocks; ++block) {
        double work_before_alone = work_alone(iterations);
        fill_link();
        Lap alone = counted(0);
        double work_before_both = work_alone(iterations);
        fill_link();
        figures.add(alone, {work_before_alone, work_before_both}, counted(iterations));
    }
    report.count_sent(laps, static_cast<double>(bytes));
    figures.report(report, part, bytes);
}

}  // namespace lanyard::bench
