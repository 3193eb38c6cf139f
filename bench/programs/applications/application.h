// What the applications of bench-applications have in common: the kernels of the NAS Parallel Benchmarks, written from their published
// definition, and patterns of communication without a solver. Each is a file of this folder with one function that runs it.
// One thread.
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
    char problem() const { return job_.settings.problem.front(); }  // its class: 'S', 'W', 'A' or 'B'

    // The timed part, which all ranks begin together. What MPI does in it is counted.
    void start();
    void stop();

    // Tells who watches a long run how far it is. Called by all ranks after each step of the timed part.
    void show_progress(long done, long all);

    double seconds() const { return seconds_; }          // of the slowest rank
    const Totals& totals() const { return totals_; }
    const std::string& of_library() const { return of_library_; }  // what it counts itself, in lines

private:
    const Job& job_;
    std::string name_;  // with the class, as "is.A"
    double start_ = 0, shown_ = 0, seconds_ = 0;
    Totals totals_;
    std::unique_ptr<LibraryCounters> counters_;
    std::string of_library_;
};

struct Outcome {
    bool verified = false;
    double million_operations = 0;  // as its definition counts them; 0 for a pattern, which has none
};

struct Application {
    std::string name;
    // A sentence where the problem does not run on so many ranks, else "".
    std::string (*refuse)(int ranks, char problem);
    Outcome (*run)(Run& run);
};

// That of a kernel's problems which has this name. Every kernel has all that --class offers.
template <class Problem, std::size_t count>
const Problem& problem_of(const Problem (&problems)[count], char name) {
    for (const Problem& problem : problems)
        if (problem.name == name) return problem;
    throw std::logic_error(std::string("there is no class ") + name);
}

// Whether it is true on all ranks. Collective; not counted.
bool everywhere(bool here);

std::string takes_any(int ranks, char problem);
std::string takes_powers_of_two(int ranks, char problem);
std::string takes_ft_ranks(int ranks, char problem);
std::string takes_mg_ranks(int ranks, char problem);

// Whether `value` is `reference` up to a relative error of `tolerance`.
bool close_to(double value, double reference, double tolerance);

// Kernels (RNR-94-007, section 2).
Outcome run_ep(Run& run);
Outcome run_mg(Run& run);
Outcome run_cg(Run& run);
Outcome run_ft(Run& run);
Outcome run_is(Run& run);

// Patterns of known programs; what comes is verified.
Outcome run_wavefront(Run& run);
Outcome run_directions(Run& run);
Outcome run_peers(Run& run);
Outcome run_halo(Run& run);
Outcome run_panels(Run& run);

}  // namespace lanyard::bench
