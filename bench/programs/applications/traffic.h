// What an application does in MPI, counted by functions of MPI's own names that go before the library's (traffic.cc), by the profiling
// interface: whatever library runs the program, the same is counted in the same way.
//
// Only the functions that the applications use are there. Messages are counted where they are sent, on MPI_COMM_WORLD; collectives by
// what this rank puts into them. One thread.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

namespace lanyard::bench {

struct Collectives {
    long calls = 0;
    double bytes = 0;
};

struct Traffic {
    static constexpr int size_classes = 48;

    long messages = 0;
    double bytes = 0;
    double largest = 0;                              // message, in bytes
    std::array<long, size_classes> by_size{};        // place 0: empty messages, k: 2^(k-1) to 2^k - 1 bytes
    std::vector<char> sent_to;                       // by rank
    std::map<std::string, Collectives> collectives;  // by function
    double seconds = 0;                              // in MPI
};

// Counts from now on, from zero, until stop_counting(), which returns what was counted. `ranks` is the size of MPI_COMM_WORLD.
void start_counting(int ranks);
Traffic stop_counting();

// Of all ranks together: messages, bytes and collectives in sum, `largest` of all, seconds the mean. Collective; not counted itself.
struct Totals {
    Traffic sum;
    int peers = 0;            // the most that a rank sent to
    double most_seconds = 0;  // in MPI, of one rank
};
Totals total(const Traffic& mine);

// The totals in words and bars, `seconds` is the time of the run.
std::string describe(const Totals& totals, double seconds);

}  // namespace lanyard::bench
