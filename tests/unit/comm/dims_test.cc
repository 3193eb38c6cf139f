// Compares MPI_Dims_create with a search through all products. Also tests its properties for large counts,
// and its errors.
#include "comm/dims.h"

#include <gtest/gtest.h>

#include <climits>
#include <numeric>
#include <tuple>

namespace lanyard {
namespace {

using Score = std::tuple<int, int>;  // difference of the largest and the smallest factor; sum of the factors

Score score(const std::vector<int> &factors) {
    auto [least, most] = std::minmax_element(factors.begin(), factors.end());
    return {*most - *least, std::reduce(factors.begin(), factors.end())};
}

// Returns the best score of all products of `parts` factors.
Score best_score(int count, int parts, std::vector<int> &factors) {
    if (parts == 1) {
        factors.push_back(count);
        Score result = score(factors);
        factors.pop_back();
        return result;
    }
    Score best{INT_MAX, 0};
    for (int d = 1; d <= count; ++d) {
        if (count % d) continue;
        factors.push_back(d);
        best = std::min(best, best_score(count / d, parts - 1, factors));
        factors.pop_back();
    }
    return best;
}

void expect_valid(int count, const std::vector<int> &factors) {
    int64_t product = 1;
    for (int factor : factors) product *= factor;
    EXPECT_EQ(product, count);
    EXPECT_TRUE(std::is_sorted(factors.rbegin(), factors.rend())) << ::testing::PrintToString(factors);
}

TEST(Dims, BestOfAllProducts) {
    for (int parts = 1; parts <= 4; ++parts)
        for (int count = 1; count <= (parts < 4 ? 400 : 150); ++count) {
            std::vector<int> factors = balanced_factors(count, parts), none;
            expect_valid(count, factors);
            ASSERT_EQ(factors.size(), static_cast<size_t>(parts));
            ASSERT_EQ(score(factors), best_score(count, parts, none))
                << count << " in " << parts << ": " << ::testing::PrintToString(factors);
        }
}

TEST(Dims, KnownProducts) {
    using List = std::vector<int>;
    EXPECT_EQ(balanced_factors(6, 2), (List{3, 2}));
    EXPECT_EQ(balanced_factors(7, 3), (List{7, 1, 1}));
    EXPECT_EQ(balanced_factors(12, 5), (List{3, 2, 2, 1, 1}));
    EXPECT_EQ(balanced_factors(1 << 30, 2), (List{1 << 15, 1 << 15}));
    EXPECT_EQ(balanced_factors(1 << 30, 30), List(30, 2));
    EXPECT_EQ(balanced_factors(INT_MAX, 2), (List{INT_MAX, 1}));  // a prime
    EXPECT_EQ(balanced_factors(46337 * 46337, 2), (List{46337, 46337}));
    EXPECT_EQ(balanced_factors(1290 * 1290 * 1290, 3), (List{1290, 1290, 1290}));
    List many = balanced_factors(12, 100);
    EXPECT_EQ(many.size(), 100u);
    expect_valid(12, many);
}

// Counts with very many divisors, alone and with a large prime factor. Without bounds, the search would run
// for hours.
TEST(Dims, AnswersAtOnce) {
    for (int count : {2095133040, 1102701600, 735134400, 1 << 30, 1162261467, 1441440 * 1009, 720720 * 2003,
                      55440 * 30011, 2147483646})
        for (int parts = 1; parts <= 33; ++parts) expect_valid(count, balanced_factors(count, parts));
}

std::string fails(int processes, std::vector<int> dims, ErrorClass error_class) {
    std::vector<int> before = dims;
    Error error = balance_dims(processes, dims);
    if (!error) return "no error";
    EXPECT_EQ(error.code(), static_cast<int>(error_class));
    EXPECT_EQ(dims, before);
    std::string sentence(error.sentence());
    error.discard();
    return sentence;
}

TEST(Dims, FixedOnes) {
    std::vector<int> dims{0, 3, 0};
    EXPECT_FALSE(balance_dims(36, dims));
    EXPECT_EQ(dims, (std::vector<int>{4, 3, 3}));
    dims = {0, 3, 0};
    EXPECT_FALSE(balance_dims(18, dims));
    EXPECT_EQ(dims, (std::vector<int>{3, 3, 2}));
    dims = {46340, 0, 46340, 0};
    EXPECT_FALSE(balance_dims(46340 * 46340, dims));
    EXPECT_EQ(dims, (std::vector<int>{46340, 1, 46340, 1}));
    dims = {2, 3};
    EXPECT_FALSE(balance_dims(6, dims));
    EXPECT_FALSE(balance_dims(1, {}));
    EXPECT_EQ(fails(7, {0, 2}, ErrorClass::dims),
              "nnodes is 7, which is no multiple of the dimensions given, up to dims[1] = 2");
    EXPECT_EQ(fails(8, {2, 2}, ErrorClass::dims),
              "no element of dims is 0, and their product is 4, not nnodes = 8");
    EXPECT_EQ(fails(65536, {65536, 65536}, ErrorClass::dims),
              "nnodes is 65536, which is no multiple of the dimensions given, up to dims[1] = 65536");
    EXPECT_EQ(fails(4, {0, -1}, ErrorClass::dims), "dims[1] is -1 but must not be negative");
    EXPECT_EQ(fails(0, {0}, ErrorClass::arg), "nnodes is 0 but must be at least 1");
    EXPECT_EQ(fails(2, {}, ErrorClass::dims),
              "no element of dims is 0, and their product is 1, not nnodes = 2");
}

}  // namespace
}  // namespace lanyard
