// See statistics.h.
//
// The number of samples below the true median is binomial(n, 1/2) for any distribution. The k-th smallest and
// the k-th largest sample therefore enclose the median with probability 1 - 2 P(B < k), and k is the largest
// value for which this is at least 95 %.
#include "bench/programs/statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace lanyard::bench {

namespace {

// Returns the largest k >= 1 with 2 P(B(n, 1/2) < k) <= 0.05, or 1 if no such k exists.
int interval_rank(int n) {
    double probability = std::exp2(-n);
    double below = 0;
    int k = 0;
    while (k < n / 2 && 2 * (below + probability) <= 0.05) {
        below += probability;
        probability *= static_cast<double>(n - k) / (k + 1);
        ++k;
    }
    return std::max(k, 1);
}

}  // namespace

Summary summarise(std::vector<double> samples) {
    assert(!samples.empty());
    std::sort(samples.begin(), samples.end());
    // Beyond a thousand samples the power of two underflows. The normal approximation is exact enough there.
    int n = static_cast<int>(samples.size());
    int k = n <= 1000 ? interval_rank(n) : static_cast<int>(n / 2.0 - 0.98 * std::sqrt(n));
    auto at = [&](int i) { return samples[static_cast<std::size_t>(i)]; };
    Summary summary;
    summary.median = n % 2 ? at(n / 2) : (at(n / 2 - 1) + at(n / 2)) / 2;
    summary.low = at(k - 1);
    summary.high = at(n - k);
    summary.smallest = samples.front();
    summary.largest = samples.back();
    summary.samples = n;
    return summary;
}

double percentile_of(std::vector<double> values, double percent) {
    assert(!values.empty());
    auto rank = static_cast<std::ptrdiff_t>(std::ceil(percent / 100 * static_cast<double>(values.size())));
    auto found = values.begin() + std::max<std::ptrdiff_t>(rank, 1) - 1;
    std::nth_element(values.begin(), found, values.end());
    return *found;
}

}  // namespace lanyard::bench
