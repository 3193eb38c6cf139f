// Declares the common parts of the applications of bench-applications. An application is a kernel of the NAS
// Parallel Benchmarks, written from its published definition, or a communication pattern without a solver.
// Each application has a file in this folder, with one function that runs it. One thread.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "bench/programs/applications/library_counters.h"
#include "bench/programs/applications/traffic.h"
#include "bench/programs/job.h"

namespace lanyard::bench {

// One run of an application on all ranks of the job.
class Run {
public:
    Run(const Job& job, std::string name) : job_(job), name_(std::move(name)) {}

    int rank() const { return job_.rank; }
    int size() const { return job_.size; }
    // the problem's class: 'S', 'W', 'A' or 'B'
    char problem() const { return job_.settings.problem.front(); }

    // These calls enclose the timed part. All ranks begin it together. The MPI calls in it are counted.
    void start();
    void stop();

    // Prints the progress of a long run now and then. All ranks call this after each step of the
    // timed part.
    void show_progress(long done, long all);

    double seconds() const { return seconds_; }  // duration of the timed part on the slowest rank
    const Totals& totals() const { return totals_; }
    // Describes, as lines of text, the MPI library's own counters for the timed part.
    const std::string& of_library() const { return of_library_; }

private:
    const Job& job_;
    std::string name_;  // name with class, for example "is.A"
    double start_ = 0, shown_ = 0, seconds_ = 0;
    Totals totals_;
    std::unique_ptr<LibraryCounters> counters_;
    std::string of_library_;
};

struct Outcome {
    bool verified = false;
    double million_operations = 0;  // counted as in the kernel's definition; 0 for patterns
};

struct Application {
    std::string name;
    // Returns the reason if the problem cannot run on this number of ranks, otherwise "".
    std::string (*refuse)(int ranks, char problem);
    Outcome (*run)(Run& run);
};

// The problem of the class `name`. Every kernel has a problem for each class that --class offers.
template <class Problem, std::size_t count>
const Problem& problem_of(const Problem (&problems)[count], char name) {
    for (const Problem& problem : problems)
        if (problem.name == name) return problem;
    throw std::logic_error(std::string("there is no class ") + name);
}

// True if `here` is true on all ranks. Collective; its MPI call is not counted.
bool everywhere(bool here);

std::string takes_any(int ranks, char problem);
std::string takes_powers_of_two(int ranks, char problem);
std::string takes_ft_ranks(int ranks, char problem);
std::string takes_mg_ranks(int ranks, char problem);

// True if `value` differs from `reference` by a relative error of no more than `tolerance`.
bool close_to(double value, double reference, double tolerance);

// Kernels (RNR-94-007, section 2).
Outcome run_ep(Run& run);
Outcome run_mg(Run& run);
Outcome run_cg(Run& run);
Outcome run_ft(Run& run);
Outcome run_is(Run& run);

// Communication patterns of known programs. They verify the data that they receive.
Outcome run_wavefront(Run& run);
Outcome run_directions(Run& run);
Outcome run_peers(Run& run);
Outcome run_halo(Run& run);
Outcome run_panels(Run& run);

}  // namespace lanyard::bench
