// Generates the initial values of the communication patterns. They are the same on every rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace lanyard::bench {

using Values = std::vector<std::uint64_t>;

// Returns random odd numbers. If a value with a wrong bit is multiplied by an odd number, the bit does not
// vanish.
inline Values odd_numbers(int count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Values numbers(static_cast<std::size_t>(count));
    for (std::uint64_t& number : numbers) number = random() | 1;
    return numbers;
}

}  // namespace lanyard::bench
