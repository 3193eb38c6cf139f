// What a benchmark program is asked to do: the options all of them share, read from the command line.
// Called by every bench_*.cc before MPI_Init, on each rank; nothing is printed here, so that rank 0 alone can speak.
// One thread. Sizes are bytes, times are seconds.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lanyard::bench {

struct Settings {
    std::vector<std::size_t> sizes_bytes;  // empty where the program has no sizes
    double block_seconds = 0.010;          // one sample is the mean over a block of about this length
    int blocks = 20;                       // samples per size
    int window = 64;                       // messages under way at once (bandwidth, rate; many: to each peer)
    long peers = 0;                        // of each rank (many)
    std::vector<int> threads;              // of each rank, a row for each number; none: MPI is not told of threads (rate)
    bool reuse_buffer = false;             // all receives of a window into one buffer
    bool alloc_mem = false;                // buffers of MPI_Alloc_mem (latency, bandwidth)
    bool pin = false;                      // each rank on one processor of its own
    bool json = false;
    std::string problem;                   // class of a kernel's problem: "A" (applications)
    std::vector<std::string> parts;        // what to measure, of those the program has
    long messages = 0;                     // how many (unexpected)
    long iterations = 0;                   // of work between post and wait; 0: as many as the transfer asks for (overlap)
    long ranks = 0;                        // processes of a tree (bench-tcp allreduce)
    double percentile = 0;                 // of single exchanges instead of their mean; 0: the mean (latency)
    std::size_t beside_bytes = 0;          // of a transfer that runs beside; 0: none (latency)
};

// What to leave out of the command line, and what the program says of itself.
struct Program {
    std::string name;         // "latency"
    std::string purpose;      // one sentence for --help
    std::string sizes;        // default sizes, "" for none
    bool windows = false;     // offers --window and --reuse
    bool allocates = false;   // offers --alloc-mem
    bool threaded = false;    // offers --threads
    bool pinned = false;      // pins its ranks without being asked
    int blocks = 20;          // samples by default
    bool timed_blocks = true; // offers --block-seconds; otherwise a sample is one transfer
    std::vector<std::string> parts = {};  // offers --parts, all by default
    std::vector<std::string> problems = {};  // offers --class, the first by default
    long messages = 0;        // offers --messages with this default
    bool works = false;       // offers --iterations
    bool beside = false;      // offers --beside
    bool percentile = false;  // offers --percentile
    long ranks = 0;           // offers --ranks with this default
    int window = 64;          // default of --window
    long peers = 0;           // offers --peers with this default, and --window
};

struct Parsed {
    Settings settings;
    bool run = true;          // false: print `text` and leave with `exit_code`
    int exit_code = 0;        // 2 for a usage error
    std::string text;
    bool check_only = false;  // --check-options came first: print `text`, if any, and leave with `exit_code` before MPI_Init
};

// What a program ends with whose options were only checked, and are good: not 0, as --help and --version end with that.
constexpr int options_are_good = 100;

// How whoever has started this process calls a benchmark: "bench-latency", or "lanyard bench latency" where that command did (its argv[0]).
std::string name_of(const std::string& benchmark);

Parsed parse_command_line(const Program& program, int argc, char** argv);
// Of bench-tcp and bench-udp, which have two more words where there is another end: the address to listen at and the remote shell that starts it.
struct Ends {
    std::string address = "127.0.0.1";
    std::string shell;
};
Parsed parse_bare_command_line(const std::string& transport, const Program& program, int argc, char** argv, Ends& ends);
// Of bench-limits, which has other options; `address` keeps its value where none is given.
Parsed parse_limits_command_line(int argc, char** argv, std::string& address);

// "8", "64k", "1M" (powers of 1024), lists "8,1k" and doubling ranges "1-4M". Throws std::invalid_argument
// with a sentence.
std::vector<std::size_t> parse_sizes(const std::string& text);

}  // namespace lanyard::bench
