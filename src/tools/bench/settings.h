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
    int window = 64;                       // messages under way at once (bandwidth and rate)
    bool reuse_buffer = false;             // all receives of a window into one buffer
    bool pin = false;                      // each rank on one processor of its own
    bool json = false;
};

// What to leave out of the command line, and what the program says of itself.
struct Program {
    std::string name;         // "latency"
    std::string purpose;      // one sentence for --help
    std::string sizes;        // default sizes, "" for none
    bool windows = false;     // offers --window and --reuse
    bool pinned = false;      // pins its ranks without being asked
    int blocks = 20;          // samples by default
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

Parsed parse_command_line(const Program& program, int argc, char** argv);
// Of bench-limits, which has other options; `address` keeps its value where none is given.
Parsed parse_limits_command_line(int argc, char** argv, std::string& address);

// "8", "64k", "1M" (powers of 1024), lists "8,1k" and doubling ranges "1-4M". Throws std::invalid_argument
// with a sentence.
std::vector<std::size_t> parse_sizes(const std::string& text);

}  // namespace lanyard::bench
