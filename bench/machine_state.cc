// machine-state measures how close two processors are at this moment. It prints two times as JSON: the time
// in which a cache line moves from one processor to the other, and half of the round trip of 64 KiB through
// shared memory. bench/machine_state.py compiles and runs this program and interprets the two numbers.
//
// The state of a virtual machine changes: the same two processors can be two threads of one core now and two
// cores a minute later. What is fast in one state can be slow in the other. The time of the cache line alone
// does not show the state.
//
// The program has two processes, each pinned to a processor. Each number is the median of short blocks, so a
// block in which one of the processes did not run has no effect.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <vector>

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "bench/programs/pin.h"
#include "bench/programs/shared_line.h"

namespace {

constexpr int blocks = 41;
constexpr std::uint32_t bounces = 200, exchanges = 10;  // in each block
constexpr std::size_t message_bytes = 64 << 10, slot_bytes = 16 << 10, slots = 4;
constexpr unsigned give_up_after_seconds = 20;

// The messages of one direction. A message is divided into slots, so that both sides can copy at the same
// time.
struct Ring {
    alignas(128) std::atomic<std::uint32_t> filled{0};
    alignas(128) std::atomic<std::uint32_t> taken{0};
    alignas(128) char slot[slots][slot_bytes];

    void send(const char* from) {
        for (std::size_t done = 0; done < message_bytes; done += slot_bytes) {
            std::uint32_t number = filled.load(std::memory_order_relaxed);
            while (number - taken.load(std::memory_order_acquire) == slots) {}
            std::memcpy(slot[number % slots], from + done, slot_bytes);
            filled.store(number + 1, std::memory_order_release);
        }
    }
    void receive(char* to) {
        for (std::size_t done = 0; done < message_bytes; done += slot_bytes) {
            std::uint32_t number = taken.load(std::memory_order_relaxed);
            while (filled.load(std::memory_order_acquire) == number) {}
            std::memcpy(to + done, slot[number % slots], slot_bytes);
            taken.store(number + 1, std::memory_order_release);
        }
    }
};

struct Shared {
    lanyard::bench::SharedLine line;
    Ring there, back;
};

char message[message_bytes];

// Returns the median over the blocks of the time of one round of `work`, in microseconds.
template <class Work>
double median_us(std::uint32_t rounds, Work work) {
    std::vector<double> samples;
    for (int block = 0; block < blocks; ++block) {
        auto start = std::chrono::steady_clock::now();
        work(static_cast<std::uint32_t>(block) * rounds, rounds);
        std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
        samples.push_back(time.count() / rounds);
    }
    std::nth_element(samples.begin(), samples.begin() + blocks / 2, samples.end());
    return samples[blocks / 2];
}

void be_first(Shared& shared) {
    double line_us = median_us(bounces, [&](std::uint32_t before, std::uint32_t rounds) {
        shared.line.bounce(before, rounds);
    });
    double copies_us = median_us(exchanges, [&](std::uint32_t, std::uint32_t rounds) {
        for (std::uint32_t i = 0; i < rounds; ++i) {
            shared.there.send(message);
            shared.back.receive(message);
        }
    });
    std::printf("{\"line_ns\": %.1f, \"copy_us\": %.3f}\n", line_us / 2 * 1e3, copies_us / 2);
}

void be_second(Shared& shared) {
    shared.line.answer(0, blocks * bounces);
    for (std::uint32_t i = 0; i < blocks * exchanges; ++i) {
        shared.there.receive(message);
        shared.back.send(message);
    }
}

int complain(const char* sentence) {
    std::fprintf(stderr, "machine-state: %s\n", sentence);
    return 1;
}

}  // namespace

int main() {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) < 2)
        return complain("there is only one processor");
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return complain("there is no memory for two processes to share");
    Shared& shared = *new (memory) Shared;
    std::memset(message, 1, sizeof message);
    pid_t first = getpid(), second = fork();
    if (second < 0) return complain("no second process can be started");
    alarm(give_up_after_seconds);
    if (second != 0) {
        lanyard::bench::pin_to_processor(0);
        be_first(shared);
        return 0;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != first) _exit(1);
    lanyard::bench::pin_to_processor(1);
    be_second(shared);
    _exit(0);
}
