// See overlap.h.
#include "bench/programs/overlap.h"

namespace lanyard::bench {

namespace {

Summary median_in(const std::vector<double>& seconds, double unit) {
    return summarise_as(seconds, [unit](double value) { return value / unit; });
}

// Makes a summary of one value. A figure that is computed from medians has no interval of its own.
Summary exactly(double value, std::size_t samples) {
    return {value, value, value, value, value, static_cast<int>(samples)};
}

}  // namespace

double work(long iterations) {
    double start = now_seconds();
    for (long i = 0; i < iterations; ++i) asm volatile("" : "+r"(i));
    return now_seconds() - start;
}

double work_rate() {
    constexpr long trial = 1000000;
    work(trial);
    std::vector<double> seconds;
    for (int i = 0; i < 5; ++i) seconds.push_back(work(trial));
    return trial / summarise(seconds).median;
}

void OverlapFigures::add(const Lap& alone, std::initializer_list<double> work_seconds, const Lap& both) {
    alone_.push_back(alone.total);
    work_.insert(work_.end(), work_seconds);
    total_.push_back(both.total);
    wait_.push_back(both.wait);
    slowed_.push_back(both.work);
}

void OverlapFigures::report(Report& report, const std::string& part, std::size_t bytes) const {
    double alone = summarise(alone_).median;
    double work_alone = summarise(work_).median;
    auto add = [&](const char* what, const char* unit, const Summary& summary) {
        report.add_named_size(part + what, bytes, unit, summary);
    };
    add(" alone", "us", median_in(alone_, 1e-6));
    add(" work alone", "us", median_in(work_, 1e-6));
    add(" total", "us", median_in(total_, 1e-6));
    add(" wait", "us", median_in(wait_, 1e-6));
    add(" overlap", "%", exactly(100 * (1 - (summarise(total_).median - work_alone) / alone), alone_.size()));
    add(" wait share", "%", median_in(wait_, alone / 100));
    add(" work slowed", "%", exactly(100 * (summarise(slowed_).median / work_alone - 1), slowed_.size()));
}

}  // namespace lanyard::bench
