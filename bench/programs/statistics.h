// Computes medians and their uncertainty, for the reports of the benchmark programs. Pure functions; any
// thread.
#pragma once

#include <vector>

namespace lanyard::bench {

struct Summary {
    double median = 0;
    // A 95 % interval of the median, from order statistics. It assumes nothing about the distribution.
    double low = 0;
    double high = 0;
    double smallest = 0;
    double largest = 0;
    int samples = 0;
};

// Requires at least one sample. If there are fewer than six, the interval is the range of all samples, and
// then contains the true median with a probability of less than 95 %.
Summary summarise(std::vector<double> samples);

// Returns the smallest value that at least `percent` per cent of the values do not exceed. Requires at least
// one value, and 0 < percent <= 100.
double percentile_of(std::vector<double> values, double percent);

}  // namespace lanyard::bench
