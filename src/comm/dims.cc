// See dims.h.
#include "comm/dims.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace lanyard {

namespace {

// True if base^exponent <= limit.
bool power_within(int64_t base, int exponent, int64_t limit) {
    int64_t power = 1;
    for (; exponent > 0 && base > 1; --exponent) {
        if (power > limit / base) return false;
        power *= base;
    }
    return power <= limit;
}

// The largest integer whose power with this exponent is at most `value`.
int64_t root(int64_t value, int exponent) {
    auto guess = static_cast<int64_t>(std::pow(static_cast<double>(value), 1.0 / exponent));
    while (!power_within(guess, exponent, value)) --guess;
    while (power_within(guess + 1, exponent, value)) ++guess;
    return guess;
}

// Chooses the factors from the largest to the smallest. For each factor, tries the possible values in
// ascending order. The root of the remaining product is an upper limit of the smallest factor, and gives a
// lower limit of the sum. Therefore only few products need to be tried when a good product is known.
class Factoring {
public:
    Factoring(int count, int parts) {
        for (int d = 1; int64_t{d} * d <= count; ++d) {
            if (count % d) continue;
            divisors_.push_back(d);
            if (d != count / d) divisors_.push_back(count / d);
        }
        std::sort(divisors_.begin(), divisors_.end());
        extend(count, parts, count, 0);
    }
    const std::vector<int> &best() const { return best_; }

private:
    // Divides `rest` into `parts` factors, each at most `largest`. `sum`: the sum of the factors chosen
    // before.
    void extend(int rest, int parts, int largest, int64_t sum) {
        if (parts == 1) return finish(rest, largest, sum + rest);
        int64_t least = root(rest, parts);  // the largest factor is not below the geometric mean
        if (power_within(least, parts, rest - 1)) ++least;
        for (auto d = std::lower_bound(divisors_.begin(), divisors_.end(), least);
             d != divisors_.end() && *d <= largest; ++d) {
            if (rest % *d) continue;
            int64_t first = factors_.empty() ? *d : factors_[0];
            int64_t difference = first - root(rest / *d, parts - 1);
            double least_sum =
                static_cast<double>(sum + *d) + (parts - 1) * std::pow(rest / *d, 1.0 / (parts - 1));
            if (!best_.empty() && (difference > difference_ || (difference == difference_ &&
                                                                least_sum > static_cast<double>(sum_) - 0.5)))
                break;  // larger values are no better
            factors_.push_back(*d);
            extend(rest / *d, parts - 1, *d, sum + *d);
            factors_.pop_back();
        }
    }

    void finish(int last, int largest, int64_t sum) {
        if (last > largest) return;
        int64_t difference = factors_.empty() ? 0 : factors_[0] - last;
        if (!best_.empty() && (difference > difference_ || (difference == difference_ && sum >= sum_)))
            return;
        best_ = factors_;
        best_.push_back(last);
        difference_ = difference;
        sum_ = sum;
    }

    std::vector<int> divisors_, factors_, best_;
    int64_t difference_ = 0, sum_ = 0;  // of the best product
};

}  // namespace

std::vector<int> balanced_factors(int count, int parts) {
    // An int is a product of at most 30 factors above 1.
    constexpr int most_above_one = 30;
    std::vector<int> factors = Factoring(count, std::min(parts, most_above_one + 1)).best();
    factors.resize(static_cast<size_t>(parts), 1);
    return factors;
}

Error balance_dims(int processes, std::span<int> dims) {
    if (processes < 1)
        return {ErrorClass::arg, "nnodes is " + std::to_string(processes) + " but must be at least 1"};
    int64_t rest = processes;
    int open = 0;
    for (size_t i = 0; i < dims.size(); ++i) {
        std::string name = "dims[" + std::to_string(i) + "]";
        if (dims[i] < 0)
            return {ErrorClass::dims, name + " is " + std::to_string(dims[i]) + " but must not be negative"};
        if (dims[i] == 0) {
            ++open;
        } else if (rest % dims[i]) {
            return {ErrorClass::dims, "nnodes is " + std::to_string(processes) +
                                          ", which is no multiple of the dimensions given, up to " + name +
                                          " = " + std::to_string(dims[i])};
        } else {
            rest /= dims[i];
        }
    }
    if (open == 0 && rest != 1)
        return {ErrorClass::dims, "no element of dims is 0, and their product is " +
                                      std::to_string(processes / rest) +
                                      ", not nnodes = " + std::to_string(processes)};
    if (open == 0) return {};
    std::vector<int> factors = balanced_factors(static_cast<int>(rest), open);
    auto next = factors.begin();
    for (int &dim : dims)
        if (dim == 0) dim = *next++;
    return {};
}

}  // namespace lanyard
