// Parses the options of the benchmark programs from the command line. Every bench_*.cc parses them before
// MPI_Init, on each rank. Nothing is printed here, so that only rank 0 prints. One thread. Sizes are in
// bytes, times in seconds.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lanyard::bench {

struct Settings {
    std::vector<std::size_t> sizes_bytes;  // empty where the program has no sizes
    double block_seconds = 0.010;          // one sample is the mean over a block of about this length
    int blocks = 20;                       // samples per size
    int window = 64;                       // messages in flight (bandwidth, rate; many: to each peer)
    long peers = 0;                        // number of peers of each rank (many)
    // Numbers of threads of each rank, with a row for each number. Empty: one thread, and MPI is started
    // without threads (rate).
    std::vector<int> threads;
    std::string pattern;                   // how ranks send and receive (rate)
    bool reuse_buffer = false;             // all receives of a window use one buffer
    bool alloc_mem = false;                // buffers of MPI_Alloc_mem (latency, bandwidth)
    bool pin = false;                      // each rank on one processor of its own
    bool json = false;
    std::string problem;                   // class of a kernel's problem: "A" (applications)
    std::vector<std::string> parts;        // the parts of the program that are measured
    long messages = 0;                     // number of messages (unexpected)
    // iterations of work between post and wait; 0: chosen by the time of the transfer (overlap)
    long iterations = 0;
    long ranks = 0;                        // processes of a tree (bench-tcp allreduce)
    std::vector<double> skews_us;          // by how much one of two ranks is late (exchange)
    double percentile = 0;                 // of single exchanges; 0: their mean (latency)
    // size of a transfer beside the measurement; 0: no transfer (latency)
    std::size_t beside_bytes = 0;
};

// The options that a program has, and the texts of its help.
struct Program {
    std::string name;         // "latency"
    std::string purpose;      // one sentence for --help
    std::string sizes;        // default sizes, "" for none
    bool windows = false;     // offers --window and --reuse
    bool allocates = false;   // offers --alloc-mem
    std::vector<double> skews_us = {};  // offers --skew with these defaults
    bool threaded = false;    // offers --threads
    std::vector<std::string> patterns = {};  // offers --pattern, the first by default
    bool pinned = false;      // pins its ranks by default
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
    bool run = true;          // false: print `text` and exit with `exit_code`
    int exit_code = 0;        // 2 for a usage error
    std::string text;
    // True if --check-options was given. Then print `text`, if any, and exit with `exit_code` before
    // MPI_Init.
    bool check_only = false;
};

// The exit code after --check-options if the options are correct. It is not 0, because --help and --version
// exit with 0.
constexpr int options_are_good = 100;

// Returns the name of a benchmark as the user called it: "lanyard bench latency" if that command started this
// process (its argv[0]), otherwise "bench-latency".
std::string name_of(const std::string& benchmark);

Parsed parse_command_line(const Program& program, int argc, char** argv);
// Parameters of the second process of bench-tcp and bench-udp, from two more options: the address at which it
// listens, and the remote shell that starts it.
struct Ends {
    std::string address = "127.0.0.1";
    std::string shell;
};
Parsed parse_bare_command_line(const std::string& transport, const Program& program, int argc, char** argv,
                               Ends& ends);
// Parses the options of bench-limits, which differ from the others.
struct LimitsOptions {
    bool json = false;
    bool all_copies = false;  // report every copy loop and slot size
    std::string address = "127.0.0.1";
};
Parsed parse_limits_command_line(int argc, char** argv, LimitsOptions& options);

// Parses sizes such as "8", "64k" and "1M" (powers of 1024), lists such as "8,1k", and ranges such as "1-4M",
// in which each size is twice the size before it. Throws std::invalid_argument with a sentence.
std::vector<std::size_t> parse_sizes(const std::string& text);

}  // namespace lanyard::bench
