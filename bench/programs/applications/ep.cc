// EP generates pairs of Gaussian deviates by the acceptance-rejection method and counts them in square annuli
// (RNR-94-007, section 2.1). The ranks work independently, and add up their results at the end.
#include <array>
#include <cmath>
#include <cstdint>

#include "bench/programs/applications/application.h"
#include "bench/programs/applications/random.h"

namespace lanyard::bench {

namespace {

struct Problem {
    char name;
    int log_pairs;
    double sum_x, sum_y;  // the published sums
};
constexpr Problem problems[] = {{'S', 24, -3.247834652034740e+3, -6.958407078382297e+3},
                                {'W', 25, -2.863319731645753e+3, -6.320053679109499e+3},
                                {'A', 28, -4.295875165629892e+3, -1.580732573678431e+4},
                                {'B', 30, 4.033815542441498e+4, -2.660669192809235e+4}};
constexpr std::uint64_t seed = 271828183;
constexpr std::uint64_t step = 1 << 20;  // number of pairs in a step
constexpr double tolerance = 1e-8;

struct Sums {
    std::array<double, 2> both{};
    std::array<long, 10> annuli{};
};

void add_pairs(Random& random, std::uint64_t pairs, Sums& sums) {
    for (std::uint64_t pair = 0; pair < pairs; ++pair) {
        double x = 2 * random.next() - 1, y = 2 * random.next() - 1;
        double square = x * x + y * y;
        if (square > 1) continue;
        double factor = std::sqrt(-2 * std::log(square) / square);
        double first = x * factor, second = y * factor;
        sums.both[0] += first;
        sums.both[1] += second;
        ++sums.annuli[static_cast<std::size_t>(std::max(std::fabs(first), std::fabs(second)))];
    }
}

}  // namespace

Outcome run_ep(Run& run) {
    const Problem& problem = problem_of(problems, run.problem());
    std::uint64_t pairs = std::uint64_t{1} << problem.log_pairs,
                  ranks = static_cast<std::uint64_t>(run.size());
    std::uint64_t first = pairs * static_cast<std::uint64_t>(run.rank()) / ranks,
                  end = pairs * static_cast<std::uint64_t>(run.rank() + 1) / ranks;
    run.start();
    Random random(seed);
    random.skip(2 * first);
    Sums mine, all;
    for (std::uint64_t pair = first; pair < end; pair += step) {
        add_pairs(random, std::min(step, end - pair), mine);
        run.show_progress(static_cast<long>(pair - first), static_cast<long>(end - first));
    }
    MPI_Allreduce(mine.both.data(), all.both.data(), 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(mine.annuli.data(), all.annuli.data(), 10, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    run.stop();
    bool verified =
        close_to(all.both[0], problem.sum_x, tolerance) && close_to(all.both[1], problem.sum_y, tolerance);
    return {verified, 2e-6 * static_cast<double>(pairs)};
}

}  // namespace lanyard::bench
