// bench-memory measures the memory that a process keeps for each other process of its job, by path. It
// measures in two ways: on real ranks that have communicated (bench-peers), and as the growth of a process
// that creates the tables of a large job (job_table.h). The results are compared with those of Koop, Sur, Gao
// and Panda for InfiniBand (ICS 2007). The program starts jobs itself, so it is not an MPI program. Kernel
// memory belongs to no process. It is therefore not in the rows, but in a note.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "bench/programs/job_table.h"
#include "bench/programs/report.h"
#include "bench/programs/settings.h"
#include "bench/programs/statistics.h"

namespace lanyard::bench {
namespace {

constexpr uint32_t many = 16'384;
constexpr long most_ranks = 65;
const Program program{
    .name = "memory",
    .purpose = "Memory of a process per other process, by path: with real ranks, and with tables for "
               "16,384.",
    .sizes = "",
    .timed_blocks = false,
    .ranks = 17};

struct OfPeer {
    double allocated = 0, resident = 0;  // bytes
    double descriptors = 0;              // how many
};

// Returns the result of bench-peers for rank 0 in a job of `ranks` ranks that use this path.
OfPeer of_real_ranks(const std::string& path, long ranks) {
    std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    std::string mpirun = here.parent_path().parent_path() / "bin" / "mpirun", peers = here / "bench-peers";
    // The allocator counts the memory in a thread's cache as in use. An object that is allocated from there
    // would therefore seem to need no memory, so the cache is switched off.
    std::string command =
        fmt::format("GLIBC_TUNABLES=glibc.malloc.tcache_count=0 LANYARD_PATHS=self,{} '{}' -n {} '{}' --json",
                    path, mpirun, ranks, peers);
    FILE* output = popen(command.c_str(), "r");
    if (!output) throw std::runtime_error("no job can be started");
    std::string text;
    char some[4096];
    while (std::size_t bytes = std::fread(some, 1, sizeof some, output)) text.append(some, bytes);
    int status = pclose(output);
    if (status != 0)
        throw std::runtime_error(
            fmt::format("the job of {} ranks connected by {} failed: {}", ranks, path, command));
    std::map<std::string, double> rows;
    nlohmann::json told = nlohmann::json::parse(text);
    for (const auto& row : told.at("results")) rows[row.at("name")] = row.at("median");
    return {rows.at("allocated"), rows.at("resident"), rows.at("descriptors")};
}

void add(Report& report, const std::string& label, double bytes) {
    report.add_named(label, "B", summarise({bytes}));
}

std::string mega(double bytes) { return fmt::format("{:.1f} MB", bytes / 1e6); }

// Returns two tables and a note. The first table compares these results with the paper's table 1 and the end
// points of the curves in its figure 3. Its columns are the memory for each known peer, the additional memory
// for each peer talked to, and the memory of one process in a job of 16,384 that has talked to all. The
// second table shows where the memory is.
std::string beside_the_paper(const TableMemory& links, const TableMemory& datagrams, const OfPeer& tcp) {
    double peers = many;
    auto row = [](const std::string& name, const std::string& known, const std::string& talked,
                  const std::string& all) {
        return fmt::format("{:<38}{:>14}{:>20}{:>24}\n", name, known, talked, all);
    };
    auto kib = [&](double bytes) { return fmt::format("{:.2f} KiB", bytes / 1024); };
    double known_links = (links.messages + links.known) / peers,
           known_datagrams = (datagrams.messages + datagrams.known) / peers;
    // A few ranks fill only a few pages, so `resident` can be too small.
    double of_connection = std::max(tcp.allocated, tcp.resident);
    std::string all_links = mega(links.messages + links.path + links.known + peers * of_connection);
    std::string text = row("a process of 16,384", "known peer", "more, talked to", "all talked to");
    text += row("InfiniBand, reliable connections", "0.61 KB", "68 KB", "1.1 GB");
    text += row("  the same, tuned", "0.61 KB", "13 KB", "-");
    text += row("InfiniBand, unreliable datagrams", "0.44 KB", "0", "40 MB");
    text += row("Lanyard over TCP", kib(known_links), kib(of_connection),
                all_links);
    text += row("Lanyard over datagrams", kib(known_datagrams), "0",
                mega(datagrams.messages + datagrams.path + datagrams.known));
    text += row("  of this the path alone", kib(datagrams.known / peers), "0",
                mega(datagrams.path + datagrams.known));
    text += "\n" + fmt::format("{:<38}{:>14}{:>20}{:>24}\n", "where it is, of 16,384", "structures",
                               "contexts", "buffers");
    text += row("Lanyard over TCP", mega(links.messages + links.known), "16,383 sockets", "of each socket");
    text += row("Lanyard over datagrams", mega(datagrams.messages + datagrams.known), "1 socket",
                fmt::format("{} and {}", mega(datagrams.path), mega(datagrams.buffers)));
    return text + "Buffers: of the process, and of the kernel for one socket. "
                  "The paper's are of its own machines; what TCP adds\n"
                  "for each that was talked to is as much as the ranks above took, "
                  "without what the kernel keeps of 16,383 sockets.\n";
}

void measure(const Settings& settings, Report& report) {
    // The tables are measured first, while this process still uses little memory.
    TableMemory links = links_table(many), datagrams = datagrams_table(many);
    std::map<std::string, OfPeer> real;
    for (const char* path : {"shm", "tcp", "dgram"}) {
        real[path] = of_real_ranks(path, settings.ranks);
        add(report, fmt::format("{}, talked to, allocated", path), real[path].allocated);
        add(report, fmt::format("{}, talked to, resident", path), real[path].resident);
        report.add_named(fmt::format("{}, descriptors", path), "each", summarise({real[path].descriptors}));
    }
    add(report, "messages, known of 16384", links.messages / many);
    add(report, "tcp, known of 16384", links.known / many);
    add(report, "dgram, talked to of 16384", datagrams.known / many);
    add(report, "dgram, all of 16384", datagrams.messages + datagrams.path + datagrams.known);
    report.note(beside_the_paper(links, datagrams, real["tcp"]));
}

int run(int argc, char** argv) {
    Parsed parsed = parse_command_line(program, argc, argv);
    if (!parsed.run) {
        std::fputs(parsed.text.c_str(), parsed.exit_code == 0 ? stdout : stderr);
        return parsed.exit_code;
    }
    if (parsed.settings.ranks < 3 || parsed.settings.ranks > most_ranks) {
        fmt::print(
            stderr,
            "{}: --ranks is from 3 to {}: rank 0 talks to all others, and the first of them costs more\n",
            name_of("memory"), most_ranks);
        return 2;
    }
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    Report report("memory", "Lanyard " LANYARD_VERSION, host, static_cast<int>(parsed.settings.ranks),
                  {"for each other process", "", false}, parsed.settings.json, true);
    measure(parsed.settings, report);
    report.finish();
    return 0;
}

}  // namespace
}  // namespace lanyard::bench

int main(int argc, char** argv) {
    try {
        return lanyard::bench::run(argc, argv);
    } catch (const std::exception& problem) {
        fmt::print(stderr, "{}: {}\n", lanyard::bench::name_of("memory"), problem.what());
        return 1;
    }
}
