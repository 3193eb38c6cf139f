// See application.h.
#include "bench/programs/applications/application.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>

namespace lanyard::bench {

namespace {

// time between two lines of progress; a run that is shorter than this prints none
constexpr double seconds_between_signs = 5;

}  // namespace

void Run::start() {
    counters_ = std::make_unique<LibraryCounters>();
    PMPI_Barrier(MPI_COMM_WORLD);
    start_counting(size());
    start_ = shown_ = now_seconds();
}

void Run::stop() {
    double mine = now_seconds() - start_;
    PMPI_Allreduce(&mine, &seconds_, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    totals_ = total(stop_counting());
    of_library_ = counters_->describe();
    counters_.reset();
}

void Run::show_progress(long done, long all) {
    if (rank() != 0 || done == all || now_seconds() - shown_ < seconds_between_signs) return;
    shown_ = now_seconds();
    fmt::print(stderr, "{}: {} of {} steps after {:.0f} s\n", name_, done, all, shown_ - start_);
}

bool everywhere(bool here) {
    int mine = here, all = 0;
    PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all != 0;
}

std::string takes_any(int, char) { return ""; }

std::string takes_powers_of_two(int ranks, char) {
    if ((ranks & (ranks - 1)) == 0) return "";
    return fmt::format("needs a power of two of ranks, this job has {}", ranks);
}

bool close_to(double value, double reference, double tolerance) {
    return std::fabs(value - reference) <= tolerance * std::fabs(reference);
}

}  // namespace lanyard::bench
