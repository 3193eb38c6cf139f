// See job.h.
#include "bench/programs/job.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <fstream>
#include <vector>

#include <time.h>

#include "bench/programs/pin.h"

namespace lanyard::bench {

namespace {

Job describe_job(const Settings& settings) {
    Job job;
    job.settings = settings;
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.size);
    MPI_Query_thread(&job.thread_level);
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    job.library = text;  // as a C string, since some libraries count the terminating zero
    // Keeps one line. For Lanyard with MPICH's ABI this is the second line, which has Lanyard's own name. For
    // other libraries it is the first line.
    if (std::size_t own = job.library.find("\nLanyard "); own != std::string::npos)
        job.library.erase(0, own + 1);
    job.library.resize(std::min(job.library.size(), job.library.find_first_of("\r\n")));
    job.library.resize(job.library.find_last_not_of(' ') + 1);
    char host[MPI_MAX_PROCESSOR_NAME];
    MPI_Get_processor_name(host, &length);
    job.host.assign(host, static_cast<std::size_t>(length));
    return job;
}

// Returns the rank among the ranks that run on the same kernel. In a job on several machines, the ranks on
// each machine are therefore pinned from its first processor on. Hosts that share one machine, such as
// containers or the hosts of a lab, also share its processors, so their ranks must be pinned to different
// ones.
int local_rank(const Job& job) {
    std::array<char, 40> mine{};
    std::ifstream("/proc/sys/kernel/random/boot_id").read(mine.data(), mine.size());
    std::vector<std::array<char, 40>> all(static_cast<std::size_t>(job.size));
    MPI_Allgather(mine.data(), mine.size(), MPI_CHAR, all.data(), mine.size(), MPI_CHAR, MPI_COMM_WORLD);
    return static_cast<int>(std::count(all.begin(), all.begin() + job.rank, mine));
}

// Returns the reason why this job cannot be measured, or "".
std::string refusal(const Frame& frame, const Job& job) {
    if (!job.settings.threads.empty() && job.thread_level < MPI_THREAD_MULTIPLE)
        return "needs MPI_THREAD_MULTIPLE for --threads, which this MPI library does not grant";
    return frame.refuse(job);
}

// Requests MPI_THREAD_MULTIPLE only with --threads, because it may cost time.
void start_mpi(int& argc, char**& argv, const Settings& settings) {
    int provided = 0;
    if (settings.threads.empty()) MPI_Init(&argc, &argv);
    else MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
}

int measure_and_report(const Frame& frame, const Job& job) {
    if (std::string problem = refusal(frame, job); !problem.empty()) {
        if (job.rank == 0)
            std::fprintf(stderr, "bench-%s: %s\n", frame.program.name.c_str(), problem.c_str());
        return 2;
    }
    if (job.settings.pin && pin_to_processor(local_rank(job)) < 0)
        std::fprintf(stderr, "bench-%s: rank %d could not be pinned to a processor; it runs unpinned\n",
                     frame.program.name.c_str(), job.rank);
    Report report(frame.program.name, job.library, job.host, job.size, frame.columns, job.settings.json,
                  job.rank == 0);
    frame.measure(job, report);
    report.finish();
    return 0;
}

}  // namespace

int run_program(const Frame& frame, int argc, char** argv) {
    Parsed parsed = parse_command_line(frame.program, argc, argv);
    if (parsed.check_only) {
        std::fputs(parsed.text.c_str(), parsed.exit_code == 2 ? stderr : stdout);
        return parsed.exit_code;
    }
    double start = now_seconds();
    start_mpi(argc, argv, parsed.settings);
    double init_seconds = now_seconds() - start;
    Job job = describe_job(parsed.settings);
    job.init_seconds = init_seconds;
    int exit_code = parsed.exit_code;
    if (parsed.run) {
        try {
            exit_code = measure_and_report(frame, job);
        } catch (const std::exception& problem) {  // usually, memory for the buffers is lacking
            fail(job, std::string("stopped by '") + problem.what() + "'; smaller --sizes need less memory");
        }
    } else if (job.rank == 0) {
        std::fputs(parsed.text.c_str(), exit_code ? stderr : stdout);
    }
    MPI_Finalize();
    return exit_code;
}

std::string needs_two_ranks(const Job& job) {
    if (job.size == 2) return "";
    return "needs 2 ranks, this job has " + std::to_string(job.size) +
           ". Run it on two: lanyard bench -n 2, or mpirun -n 2";
}

std::string needs_even_ranks(const Job& job) {
    if (job.size % 2 == 0) return "";
    return "needs an even number of ranks, this job has " + std::to_string(job.size) +
           ". Run it on two: lanyard bench -n 2, or mpirun -n 2";
}

std::string any_ranks(const Job&) { return ""; }

void let_it_become_quiet() {
    constexpr int looks = 50;
    for (int look = 0; look < looks; ++look) {
        int found = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        timespec pause{0, 10'000'000};
        nanosleep(&pause, nullptr);
    }
}

void fail(const Job& job, const std::string& sentence) {
    std::fprintf(stderr, "rank %d on %s: %s\n", job.rank, job.host.c_str(), sentence.c_str());
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::terminate();
}

}  // namespace lanyard::bench
