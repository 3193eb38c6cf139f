// Counts the MPI calls of an application. traffic.cc defines functions with the names of MPI functions. They
// count the call and then call the library's functions through the profiling interface. The calls are
// therefore counted in the same way for every MPI library.
//
// Only functions that the applications use are defined. Messages on MPI_COMM_WORLD are counted at their
// sender. For a collective, the bytes that this rank contributes are counted. One thread.
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
    double largest = 0;  // bytes of the largest message
    // numbers of messages by length; element 0 is for empty messages, and element k for 2^(k-1) to 2^k - 1
    // bytes
    std::array<long, size_classes> by_size{};
    std::vector<char> sent_to;                       // by rank: 1 if a message was sent to it
    std::map<std::string, Collectives> collectives;  // by the name of the function
    double seconds = 0;                              // time spent in MPI
};

// start_counting() sets all counts to zero and starts counting. stop_counting() stops counting and
// returns the counts. `ranks` is the size of MPI_COMM_WORLD.
void start_counting(int ranks);
Traffic stop_counting();

// The traffic of all ranks. Messages and bytes are sums over the ranks, `largest` is the maximum, the
// seconds are the mean, and the collectives are those of rank 0. total() is collective, and its own calls
// are not counted.
struct Totals {
    Traffic sum;
    int peers = 0;             // the largest number of other ranks to which a rank has sent
    double most_seconds = 0;   // the longest time that a rank has spent in MPI
    double least_seconds = 0;  // the shortest one: the time of the rank that waited least
};
Totals total(const Traffic& mine);

// Describes the totals as text with bars. `seconds` is the duration of the run.
std::string describe(const Totals& totals, double seconds);

}  // namespace lanyard::bench
