// Chooses the seeds and the duration of random tests. LANYARD_TEST_SEED sets the seed of the first case.
// LANYARD_TEST_SECONDS makes the long tests longer. A test ends with the first case that fails. If
// LANYARD_TEST_SEED is set to the seed of this case, the next run begins with the failure.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace lanyard::sim {

inline uint64_t first_seed() {
    const char *text = std::getenv("LANYARD_TEST_SEED");
    return text ? std::strtoull(text, nullptr, 10) : 1;
}

// Returns `cases` consecutive seeds, beginning with first_seed().
inline std::vector<uint64_t> seeds(int cases) {
    std::vector<uint64_t> list{first_seed()};
    while (list.size() < static_cast<size_t>(cases)) list.push_back(list.back() + 1);
    return list;
}

// The time in seconds that the long tests of a program may take in all.
inline double test_seconds() {
    const char *text = std::getenv("LANYARD_TEST_SECONDS");
    return text ? std::strtod(text, nullptr) : 10;
}

// Calls body(seed) for one seed after the other: for `least` seeds in any case, and then for more until
// `share` percent of LANYARD_TEST_SECONDS have passed. Stops if body returns false.
template <class Body>
void for_seeds(int least, int share, Body body) {
    auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(test_seconds() * share / 100);
    uint64_t seed = first_seed();
    for (int i = 0; i < least || std::chrono::steady_clock::now() < end; ++i)
        if (!body(seed + static_cast<uint64_t>(i))) return;
}

}  // namespace lanyard::sim
