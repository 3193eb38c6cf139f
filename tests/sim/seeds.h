// Seeds and time of random tests: LANYARD_TEST_SEED repeats one case, LANYARD_TEST_SECONDS makes the long ones longer.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace lanyard::sim {

inline uint64_t first_seed() {
    const char *text = std::getenv("LANYARD_TEST_SEED");
    return text ? std::strtoull(text, nullptr, 10) : 20261;
}

// `cases` seeds from a fixed first one on, or the one asked for.
inline std::vector<uint64_t> seeds(int cases) {
    std::vector<uint64_t> list{first_seed()};
    if (std::getenv("LANYARD_TEST_SEED")) return list;
    while (list.size() < static_cast<size_t>(cases)) list.push_back(list.back() + 1);
    return list;
}

// Calls body(seed) for one seed after the other, at least `least` of them and then as many as fit into `share` percent of
// LANYARD_TEST_SECONDS; until body returns false. With LANYARD_TEST_SEED only that one.
template <class Body>
void for_seeds(int least, int share, Body body) {
    const char *text = std::getenv("LANYARD_TEST_SECONDS");
    double seconds = (text ? std::strtod(text, nullptr) : 10.0) * share / 100;
    auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    bool one = std::getenv("LANYARD_TEST_SEED") != nullptr;
    uint64_t seed = first_seed();
    for (int i = 0; one ? i < 1 : i < least || std::chrono::steady_clock::now() < end; ++i)
        if (!body(seed + static_cast<uint64_t>(i))) return;
}

}  // namespace lanyard::sim
