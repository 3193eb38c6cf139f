// bench-limits: what this machine allows without MPI, between two processes pinned to two processors.
// The process that reports is the first, its forked child the second; both walk through the same parts in one order:
// memory (a bounced line, memcpy, process_vm_readv), then TCP, then UDP. Failures are thrown as std::system_error in
// either process; a child that dies takes the parent along with a sentence, and a parent that dies kills its child.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <netinet/in.h>
#include <sys/types.h>

#include "bench/programs/report.h"
#include "bench/programs/shared_line.h"

namespace lanyard::bench {

constexpr std::size_t big_bytes = 4 << 20;  // larger than a second-level cache

// Mapped by both.
struct Shared {
    SharedLine line;
    alignas(128) std::atomic<int> step{0};  // parts that are open, see Step
    char* second_buffer = nullptr;          // big_bytes in the second process, valid from Step::memory on
};
enum Step : int { memory = 1, network = 2 };

struct Endpoints {
    int listener = -1;
    int datagrams = -1;
    sockaddr_in where{};  // both are bound to this address and port
};

void measure_memory(Shared& shared, pid_t second, Report& report);
void answer_memory(Shared& shared);

Endpoints bind_endpoints(const char* address);
void measure_network(const Endpoints& endpoints, Report& report);
void answer_network(const Endpoints& endpoints);

// Calls `work(rounds)` once for every block and returns seconds per round, one value a block.
template <class Work>
std::vector<double> time_blocks(int blocks, std::uint32_t rounds, Work work) {
    std::vector<double> samples;
    for (int block = 0; block < blocks; ++block) {
        auto start = std::chrono::steady_clock::now();
        work(rounds);
        std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
        samples.push_back(seconds.count() / rounds);
    }
    return samples;
}

}  // namespace lanyard::bench
