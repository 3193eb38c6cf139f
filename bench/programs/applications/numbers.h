// The initial values of the communication patterns. They are the same on every rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace lanyard::bench {

using Values = std::vector<std::uint64_t>;

// Random odd numbers. They are odd so that a wrong bit of a value does not vanish when the value is
// multiplied by one of them.
inline Values odd_numbers(int count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Values numbers(static_cast<std::size_t>(count));
    for (std::uint64_t& number : numbers) number = random() | 1;
    return numbers;
}

}  // namespace lanyard::bench
