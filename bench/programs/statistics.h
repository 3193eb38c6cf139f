// Medians and their uncertainty, for the reports of the benchmark programs. Pure functions; any thread.
#pragma once

#include <vector>

namespace lanyard::bench {

struct Summary {
    double median = 0;
    double low = 0;      // 95 % interval of the median, from order statistics: no assumption about the distribution
    double high = 0;
    double smallest = 0;
    double largest = 0;
    int samples = 0;
};

// At least one sample. With fewer than six the interval is the whole range, which then covers less than 95 %.
Summary summarise(std::vector<double> samples);

// The smallest of the values that at least `percent` of them do not exceed. At least one value; 0 < percent <= 100.
double percentile_of(std::vector<double> values, double percent);

}  // namespace lanyard::bench
