// bench-tcp: bare TCP with the sizes, writes and patterns of the MPI programs of the same name, printed in the same form:
//   bench-tcp latency|bandwidth|unidirectional|overlap|allreduce [OPTIONS]
// Allreduce is among processes of this host, the others between two ends. Started by `lanyard bench tcp` or by bench/compare, never
// through mpirun. See tcp.h.
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <string>

#include <unistd.h>

#include "tools/bench/overlap.h"
#include "tools/bench/pin.h"
#include "tools/bench/raw_socket.h"
#include "tools/bench/tcp.h"

namespace lanyard::bench {
namespace {

struct Pattern {
    Program program;
    Columns columns;
    void (*measure)(int connection, const Settings&, Report&);  // between two ends, or
    void (*measure_tree)(const Settings&, Report&) = nullptr;
};

const Pattern patterns[] = {
    {{.name = "latency", .purpose = "Half round trip over bare TCP, per size.", .sizes = "1-4M"},
     {"half round trip", "us"}, measure_tcp_latency},
    {{.name = "bandwidth", .purpose = "Bytes per second over bare TCP, in windows of messages, per size.", .sizes = "1-4M", .windows = true},
     {"one-way bandwidth", "GB/s"}, measure_tcp_bandwidth},
    {{.name = "unidirectional", .purpose = "Bytes per second over bare TCP, and what both sides take of a processor, per size.",
      .sizes = "1k-4M", .windows = true},
     {"one-way bandwidth and processor use", "GB/s"}, measure_tcp_unidirectional},
    {{.name = "overlap", .purpose = "What a thread in epoll moves while this one works, per size.", .sizes = overlap_sizes,
      .blocks = overlap_blocks, .timed_blocks = false, .parts = {"receive", "send", "alltoall"}, .works = true},
     {"a transfer and work at the same time", "us"}, measure_tcp_overlap},
    {{.name = "allreduce", .purpose = "The messages of one allreduce over bare TCP, up and down a binomial tree, per size.", .sizes = "8-1M",
      .ranks = 8},
     {"time of one call", "us"}, nullptr, measure_tcp_allreduce},
};

std::string help(const std::string& name) {
    return "Bare TCP with the sizes, writes and patterns of the MPI programs of the same name.\n"
           "Usage: " + name + " latency|bandwidth|unidirectional|overlap|allreduce [OPTIONS]\n"
           "       " + name + " PATTERN --help lists the options of one; all but allreduce take --address and --shell to reach another host.\n\n"
           "Options:\n"
           "  -h,--help       Print this help message and exit\n"
           "  -V,--version    Display program version information and exit\n";
}

int serve(int argc, char** argv) {
    if (argc > 3 && std::strcmp(argv[3], "--pin") == 0) pin_to_processor(1);
    serve_at(argv[2]);
    return 0;
}

int measure(const Pattern& pattern, int argc, char** argv) {
    Ends ends;
    Parsed parsed = parse_tcp_command_line(pattern.program, argc, argv, ends);
    if (!parsed.run || parsed.check_only) {
        std::fputs(parsed.text.c_str(), parsed.exit_code == 2 ? stderr : stdout);
        return parsed.exit_code;
    }
    const Settings& settings = parsed.settings;
    std::optional<OtherEnd> other;
    if (pattern.measure) other.emplace(ends, settings.pin);
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    int ranks = pattern.measure_tree ? static_cast<int>(settings.ranks) : 2;
    Report report("tcp " + pattern.program.name, "raw TCP", host, ranks, pattern.columns, settings.json, true);
    if (other) pattern.measure(other->connection(), settings, report);
    else pattern.measure_tree(settings, report);
    report.finish();
    return 0;
}

int run(int argc, char** argv) {
    std::string word = argc > 1 ? argv[1] : "", name = name_of("tcp");
    if (word == "serve" && argc > 2) return serve(argc, argv);
    for (const Pattern& pattern : patterns)
        if (word == pattern.program.name) return measure(pattern, argc - 1, argv + 1);
    if (word == "-h" || word == "--help") return std::fputs(help(name).c_str(), stdout), 0;
    if (word == "-V" || word == "--version" || word == "-version") return std::puts("bench-tcp of Lanyard " LANYARD_VERSION), 0;
    if (word.empty()) std::fprintf(stderr, "%s: which pattern?", name.c_str());
    else if (word.front() == '-') std::fprintf(stderr, "%s: has no option '%s'", name.c_str(), word.c_str());
    else std::fprintf(stderr, "%s: there is no pattern '%s'", name.c_str(), word.c_str());
    std::fprintf(stderr, "; there are latency, bandwidth, unidirectional, overlap and allreduce.\n%s --help tells more.\n", name.c_str());
    return 2;
}

}  // namespace
}  // namespace lanyard::bench

int main(int argc, char** argv) {
    try {
        return lanyard::bench::run(argc, argv);
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "bench-tcp: %s\n", problem.what());
        return 1;
    }
}
