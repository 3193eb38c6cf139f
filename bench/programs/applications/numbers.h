// Numbers that the patterns begin with, the same on every rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace lanyard::bench {

using Values = std::vector<std::uint64_t>;

// Odd, so that a wrong bit of what is multiplied with one does not vanish.
inline Values odd_numbers(int count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Values numbers(static_cast<std::size_t>(count));
    for (std::uint64_t& number : numbers) number = random() | 1;
    return numbers;
}

}  // namespace lanyard::bench
