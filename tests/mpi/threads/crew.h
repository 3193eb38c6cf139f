// Helpers for programs with threads. all_together() runs several threads of each rank at once, four by
// default. Ranks holds the ranks that each thread needs.
#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "comm/check.h"

constexpr int threads = 4;

struct Ranks {
    int rank, size, to, from;

    Ranks()
        : rank(rank_in(MPI_COMM_WORLD)),
          size(size_of(MPI_COMM_WORLD)),
          to((rank + 1) % size),
          from((rank + size - 1) % size) {}
};

// Runs work(0) to work(count - 1) at once and waits for all.
inline void all_together(const std::function<void(int)> &work, int count = threads) {
    std::vector<std::thread> crew;
    for (int thread = 0; thread < count; ++thread) crew.emplace_back(work, thread);
    for (std::thread &one : crew) one.join();
}

// Initialises MPI with MPI_THREAD_MULTIPLE, which the library must grant.
inline void begin(int &argc, char **&argv) {
    int provided = -1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    check_equal(provided, MPI_THREAD_MULTIPLE);
}

// Returns a message whose numbers depend on their positions.
inline std::vector<int> numbers(size_t count, int seed) {
    std::vector<int> all(count);
    for (size_t i = 0; i < count; ++i) all[i] = static_cast<int>(i) * 3 + seed * 1000003;
    return all;
}

inline int count_of(const std::vector<int> &all) { return static_cast<int>(all.size()); }
