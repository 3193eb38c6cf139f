// Measures how much of a transfer is done while the program works. bench-overlap (MPI) and bench-tcp (a
// thread in epoll) share this measurement. One thread.
//
//   C   the transfer alone                   post, wait
//   W   a number of iterations alone         work                  without a call, chosen to last 1.2 C
//   T   both                                 post, work, wait
//
// The overlap is 1 - (T - W) / C, computed from medians. It is 1 if the transfer added no time to the work,
// and 0 if the transfer began only with the wait. The wait in T and T itself are the two figures of
// Majumder's thesis (4.10 and 4.11). The slowdown of the work is the time by which the work lasts longer in T
// than in W: this is the cost of moving the bytes meanwhile.
//
// An idle link lets a burst pass at once if it limits the rate like a lab's link. A short transfer would then
// be complete before any work could overlap with it. Before C and before T, other transfers that are not
// measured therefore fill the link: together, they are longer than a burst.
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
constexpr std::size_t burst_bytes = 256 << 10;  // twice the burst of a lab's link of 1 Gbit/s
// shorter transfers pass within a burst in any case
constexpr std::size_t least_overlapped_bytes = 16 << 10;
constexpr const char* overlap_sizes = "16k-16M";
constexpr int overlap_blocks = 15;

// Does the work: increments in registers that the compiler cannot merge. Returns the seconds that it took.
double work(long iterations);

// Returns the iterations of the work per second, from a few short runs.
double work_rate();

// The times, in seconds, of one transfer with work between post and wait.
struct Lap {
    double total = 0;
    double work = 0;
    double wait = 0;
};

// The laps of one size, and the rows computed from them.
class OverlapFigures {
public:
    void add(const Lap& alone, std::initializer_list<double> work_seconds, const Lap& both);

    // `part` names the measured part, such as "receive".
    void report(Report& report, const std::string& part, std::size_t bytes) const;

private:
    std::vector<double> alone_, work_, total_, wait_, slowed_;
};

// Measures one size. `lap(iterations)` must make one transfer with that many iterations of work in it, and
// `work_alone(iterations)` must do the work without a transfer. `agree` makes the number of iterations the
// same on all ranks that need it. On a rank that only helps, the functions return zeros, and nothing is
// reported.
template <class MakeLap, class Work, class Agree>
void measure_overlap(const Settings& settings, const std::string& part, std::size_t bytes, Report& report,
                     MakeLap lap, Work work_alone, Agree agree) {
    long laps = 0;
    auto counted = [&](long work_meanwhile) {
        ++laps;
        return lap(work_meanwhile);
    };
    auto fill_link = [&] {
        for (std::size_t passed = 0; passed < burst_bytes; passed += std::max(bytes, least_overlapped_bytes))
            counted(0);
    };
    double rate = work_rate();
    long iterations = settings.iterations;
    // The speed of processors changes. The last passes therefore measure the rate again, with work that lasts
    // about as long as in the measurement.
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
