// Measures the memory parts of bench-limits; see limits.h.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include <sys/uio.h>

#include "bench/programs/limits.h"
#include "bench/programs/raw_socket.h"

namespace lanyard::bench {

namespace {

constexpr int line_blocks = 20;
constexpr std::uint32_t rounds_per_line_block = 20000;
constexpr int copy_blocks = 20;
constexpr std::uint32_t copies_per_block = 10;

std::unique_ptr<char[]> filled_buffer(int byte) {
    std::unique_ptr<char[]> buffer(new char[big_bytes]);
    std::memset(buffer.get(), byte, big_bytes);  // so that every page exists before the clock starts
    return buffer;
}

Summary bandwidth(std::vector<double> seconds_per_copy) {
    for (double& value : seconds_per_copy) value = big_bytes / value / 1e9;
    return summarise(std::move(seconds_per_copy));
}

void measure_line(SharedLine& line, Report& report) {
    std::uint32_t turn = 0;
    auto samples = time_blocks(line_blocks, rounds_per_line_block, [&](std::uint32_t rounds) {
        line.bounce(turn, rounds);
        turn += rounds;
    });
    for (double& value : samples) value = value / 2 * 1e9;
    report.add_named("line", "ns", summarise(std::move(samples)));
}

void measure_memcpy(char* to, const char* from, Report& report) {
    auto samples = time_blocks(copy_blocks, copies_per_block, [&](std::uint32_t rounds) {
        for (std::uint32_t i = 0; i < rounds; ++i) {
            std::memcpy(to, from, big_bytes);
            __asm__ volatile("" ::"r"(to) : "memory");  // so that the compiler does not remove the copy
        }
    });
    report.add_named("memcpy", "GB/s", bandwidth(std::move(samples)));
}

// Returns whether the kernel allows it.
bool measure_cma(pid_t second, char* to, char* from, Report& report) {
    if (!read_from(second, to, from, big_bytes)) {
        std::fprintf(stderr, "bench-limits: process_vm_readv is refused here (%s): no line for cma\n",
                     std::strerror(errno));
        return false;
    }
    auto samples = time_blocks(copy_blocks, copies_per_block, [&](std::uint32_t rounds) {
        for (std::uint32_t i = 0; i < rounds; ++i)
            if (!read_from(second, to, from, big_bytes)) throw_errno("process_vm_readv");
    });
    report.add_named("cma", "GB/s", bandwidth(std::move(samples)));
    return true;
}

}  // namespace

bool read_from(pid_t process, char* to, char* from, std::size_t bytes) {
    iovec here{to, bytes}, there{from, bytes};
    return process_vm_readv(process, &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
}

bool measure_memory(Shared& shared, pid_t second, Report& report) {
    measure_line(shared.line, report);
    auto from = filled_buffer(2), to = filled_buffer(3);
    measure_memcpy(to.get(), from.get(), report);
    return measure_cma(second, to.get(), shared.second_buffer, report);
}

void answer_memory(Shared& shared) {
    // The buffer is never freed, because the first process reads it as long as this process lives.
    shared.second_buffer = filled_buffer(1).release();
    shared.step.store(Step::memory, std::memory_order_release);
    shared.line.answer(0, line_blocks * rounds_per_line_block);
}

}  // namespace lanyard::bench
