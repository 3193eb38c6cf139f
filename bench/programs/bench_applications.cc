// bench-applications runs kernels of the NAS Parallel Benchmarks and communication patterns of known
// programs. It reports the run time, the time in MPI, operations per second, whether the results were
// verified, and what the ranks send. It is an ordinary MPI program, started by `lanyard bench applications`
// or any mpirun.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "bench/programs/applications/application.h"

namespace lanyard::bench {
namespace {

const std::vector<Application> applications = {
    {"ep", takes_any, run_ep},
    {"mg", takes_mg_ranks, run_mg},
    {"cg", takes_powers_of_two, run_cg},
    {"ft", takes_ft_ranks, run_ft},
    {"is", takes_powers_of_two, run_is},
    {"wavefront", takes_any, run_wavefront},
    {"directions", takes_any, run_directions},
    {"peers", takes_any, run_peers},
    {"halo", takes_any, run_halo},
    {"panels", takes_any, run_panels},
};

std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const Application& application : applications) all.push_back(application.name);
    return all;
}

const Application& application_of(const std::string& name) {
    return *std::find_if(applications.begin(), applications.end(),
                         [&](const Application& one) { return one.name == name; });
}

std::string refuse(const Job& job) {
    std::string fits, first_sentence;
    for (const std::string& name : job.settings.parts) {
        const Application& application = application_of(name);
        std::string sentence = application.refuse(job.size, job.settings.problem.front());
        if (sentence.empty()) fits += (fits.empty() ? "" : ",") + name;
        else if (first_sentence.empty()) first_sentence = name + " " + sentence;
    }
    if (first_sentence.empty() || fits.empty()) return first_sentence;
    return first_sentence + ". The others would run: --parts " + fits;
}

// Runs one application `blocks` times. The report describes the messages of the last run only, because all
// runs send the same.
void measure_one(const Job& job, const Application& application, Report& report) {
    std::string name = application.name + "." + job.settings.problem;
    std::vector<double> seconds, in_mpi, least_in_mpi, rates;
    Totals totals;
    std::string of_library;
    for (int block = 0; block < job.settings.blocks; ++block) {
        Run run(job, name);
        Outcome outcome = application.run(run);
        if (!everywhere(outcome.verified)) fail(job, name + " came to a wrong result");
        seconds.push_back(run.seconds());
        in_mpi.push_back(run.totals().sum.seconds);
        least_in_mpi.push_back(run.totals().least_seconds);
        if (outcome.million_operations > 0) rates.push_back(outcome.million_operations / run.seconds());
        totals = run.totals();
        of_library = run.of_library();
    }
    report.add_named(name, "s", summarise(seconds));
    report.add_named(name + " in MPI", "s", summarise(in_mpi));
    report.add_named(name + " in MPI, least", "s", summarise(least_in_mpi));
    if (!rates.empty()) report.add_named(name + " rate", "Mop/s", summarise(rates));
    report.note("    the result is verified\n" + describe(totals, summarise(seconds).median) + of_library);
    report.count_sent(job.settings.blocks, totals.sum.bytes);
}

void measure(const Job& job, Report& report) {
    for (const std::string& name : job.settings.parts) measure_one(job, application_of(name), report);
}

}  // namespace
}  // namespace lanyard::bench

int main(int argc, char** argv) {
    using namespace lanyard::bench;
    Frame frame{
        {.name = "applications",
         .purpose =
             "Kernels of the NAS Parallel Benchmarks and patterns of known programs: time, time in MPI, "
             "and what they send.",
         .sizes = "",
         .blocks = 1,
         .timed_blocks = false,
         .parts = names(),
         .problems = {"S", "W", "A", "B"}},
        refuse,
        {"time of whole runs", "s", false},
        measure};
    return run_program(frame, argc, argv);
}
