// Generates the uniform pseudorandom numbers of the NAS Parallel Benchmarks (D. Bailey et al., RNR-94-007,
// section 2.3): x(k+1) = 5^13 x(k) mod 2^46, from which the number x(k) 2^-46 in (0, 1) follows. One thread
// for each object.
#pragma once

#include <cstdint>

namespace lanyard::bench {

class Random {
public:
    static constexpr std::uint64_t multiplier = 1220703125;  // 5^13

    explicit Random(std::uint64_t seed) : x_(seed & mask) {}

    double next() {
        x_ = x_ * multiplier & mask;  // the product modulo 2^64 has the same lowest 46 bits
        return static_cast<double>(x_) * 0x1p-46;
    }

    // Has the same effect as `count` calls of next(), but takes a time that is proportional to the
    // logarithm of `count`.
    void skip(std::uint64_t count) {
        for (std::uint64_t power = multiplier; count > 0; count >>= 1, power = power * power & mask)
            if (count & 1) x_ = x_ * power & mask;
    }

private:
    static constexpr std::uint64_t mask = (std::uint64_t{1} << 46) - 1;
    std::uint64_t x_;
};

}  // namespace lanyard::bench
