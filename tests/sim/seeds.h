// Seeds and time of random tests: LANYARD_TEST_SEED says with which case they begin, LANYARD_TEST_SECONDS makes the long ones longer.
// Tests end with the first case that fails, so its seed alone repeats it.
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

// `cases` seeds from the first one on.
inline std::vector<uint64_t> seeds(int cases) {
    std::vector<uint64_t> list{first_seed()};
    while (list.size() < static_cast<size_t>(cases)) list.push_back(list.back() + 1);
    return list;
}

// How long the long ones may take.
inline double test_seconds() {
    const char *text = std::getenv("LANYARD_TEST_SECONDS");
    return text ? std::strtod(text, nullptr) : 10;
}

// Calls body(seed) for one seed after the other, at least `least` of them and then as many as fit into `share` percent of
// LANYARD_TEST_SECONDS; until body returns false.
template <class Body>
void for_seeds(int least, int share, Body body) {
    auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(test_seconds() * share / 100);
    uint64_t seed = first_seed();
    for (int i = 0; i < least || std::chrono::steady_clock::now() < end; ++i)
        if (!body(seed + static_cast<uint64_t>(i))) return;
}

}  // namespace lanyard::sim
