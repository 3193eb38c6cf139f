// Declares the parts of bench-limits, which measures what this machine can achieve without MPI, between two
// processes pinned to two processors. The first process reports, and the second is its child. Both run the
// same parts in the same order: memory (a bounced line, memcpy, process_vm_readv), messages through slots of
// shared memory, then TCP, then UDP. In both processes, failures are thrown as std::system_error. If the
// child dies, the parent prints a message and ends. If the parent dies, the child is killed.
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

// A ring of slots, whose number and size are those of the method that is measured. One process fills slots,
// and the other empties them.
constexpr std::size_t ring_bytes = 512 << 10;
struct SlotRing {
    alignas(128) std::atomic<std::uint32_t> filled{0};
    alignas(128) std::atomic<std::uint32_t> emptied{0};
    alignas(4096) char bytes[ring_bytes];
};

// The memory that both processes map.
struct Shared {
    SharedLine line, slot_line;
    SlotRing to_second, to_first;
    alignas(128) std::atomic<std::uint64_t> rounds{0};  // what a RoundChoice of the first process has chosen
    // 1 or 0: can this process read the other's memory? -1: not known yet.
    std::atomic<int> first_reads{-1}, second_reads{-1};
    alignas(128) std::atomic<int> step{0};  // the last part that may begin, a Step
    char* first_buffer = nullptr;           // big_bytes in the first process, valid once first_reads is known
    char* second_buffer = nullptr;          // big_bytes in the second process, valid from Step::memory on
};
enum Step : int { memory = 1, network = 2 };

struct Endpoints {
    int listener = -1;
    int datagrams = -1;
    sockaddr_in where{};  // both are bound to this address and port
};

// Copies from the memory of another process. False: the kernel refused (errno).
bool read_from(pid_t process, char* to, char* from, std::size_t bytes);

// Returns whether process_vm_readv can read the second process's memory.
bool measure_memory(Shared& shared, pid_t second, Report& report);
void answer_memory(Shared& shared);

// `all`: reports each method, not only the fastest for each size. `reads`: the result of measure_memory().
void measure_slots(Shared& shared, pid_t second, bool all, bool reads, Report& report);
void answer_slots(Shared& shared, pid_t first);

Endpoints bind_endpoints(const char* address);
void measure_network(const Endpoints& endpoints, Report& report);
void answer_network(const Endpoints& endpoints);

// Calls `work(rounds)` once for each block. Returns the seconds per round, one value for each block.
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
