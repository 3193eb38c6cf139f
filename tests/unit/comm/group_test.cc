// Compares group algebra with plain sets: each operation is also done with loops, by the definition in
// MPI-5.0 7.3.2.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "comm/group.h"

namespace lanyard {
namespace {

class GroupAlgebra : public ::testing::TestWithParam<unsigned> {
protected:
    // Returns up to `most` different peers out of twice as many, in any order.
    Peers random_peers(uint32_t most) {
        Peers all(most * 2);
        for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
        if (random() % 4 == 0)  // 0, 1, 2, ...
            return Peers(all.begin(), all.begin() + static_cast<long>(random() % (most + 1)));
        std::shuffle(all.begin(), all.end(), random);
        all.resize(random() % (most + 1));
        return all;
    }
    static bool has(const Peers &peers, uint32_t peer) {
        return std::count(peers.begin(), peers.end(), peer) > 0;
    }

    std::mt19937 random{GetParam()};
};

TEST_P(GroupAlgebra, SetOperationsFollowTheirDefinition) {
    for (int round = 0; round < 200; ++round) {
        Peers a = random_peers(12), b = random_peers(12), both, only_a, any = a;
        for (uint32_t peer : a) (has(b, peer) ? both : only_a).push_back(peer);
        for (uint32_t peer : b)
            if (!has(a, peer)) any.push_back(peer);
        ASSERT_EQ(intersection_of(a, b), both) << "seed " << GetParam();
        ASSERT_EQ(difference_of(a, b), only_a) << "seed " << GetParam();
        ASSERT_EQ(union_of(a, b), any) << "seed " << GetParam();
    }
}

TEST_P(GroupAlgebra, ComparesAndTranslates) {
    for (int round = 0; round < 200; ++round) {
        Peers a = random_peers(8), b = random() % 2 ? random_peers(8) : a;
        if (random() % 2) std::shuffle(b.begin(), b.end(), random);
        Peers sorted_a = a, sorted_b = b;
        std::sort(sorted_a.begin(), sorted_a.end());
        std::sort(sorted_b.begin(), sorted_b.end());
        int wanted = a == b ? abi::ident : sorted_a == sorted_b ? abi::similar : abi::unequal;
        ASSERT_EQ(compare_peers(a, b), wanted) << "seed " << GetParam();

        std::vector<int> ranks{abi::proc_null}, translated(a.size() + 1);
        for (size_t rank = 0; rank < a.size(); ++rank) ranks.push_back(static_cast<int>(rank));
        ASSERT_FALSE(translate_ranks(a, ranks.data(), static_cast<int>(ranks.size()), b, translated.data()));
        EXPECT_EQ(translated[0], abi::proc_null);
        for (size_t rank = 0; rank < a.size(); ++rank) {
            auto place = std::find(b.begin(), b.end(), a[rank]);
            int expected = place == b.end() ? abi::undefined : static_cast<int>(place - b.begin());
            ASSERT_EQ(translated[rank + 1], expected) << "seed " << GetParam();
        }
    }
}

TEST_P(GroupAlgebra, IncludesAndExcludes) {
    for (int round = 0; round < 200; ++round) {
        Peers a = random_peers(10), picked, rest, result;
        std::vector<int> ranks;
        for (size_t rank = 0; rank < a.size(); ++rank)
            if (random() % 2) ranks.push_back(static_cast<int>(rank));
        std::shuffle(ranks.begin(), ranks.end(), random);
        for (int rank : ranks) picked.push_back(a[static_cast<size_t>(rank)]);
        for (uint32_t peer : a)
            if (!has(picked, peer)) rest.push_back(peer);
        ASSERT_FALSE(include(a, ranks.data(), static_cast<int>(ranks.size()), result));
        ASSERT_EQ(result, picked) << "seed " << GetParam();
        ASSERT_FALSE(exclude(a, ranks.data(), static_cast<int>(ranks.size()), result));
        ASSERT_EQ(result, rest) << "seed " << GetParam();
    }
}

TEST_P(GroupAlgebra, ExpandsRanges) {
    std::vector<int> ranks;
    for (int round = 0; round < 200; ++round) {
        const int size = 20;
        int first = static_cast<int>(random() % size), last = static_cast<int>(random() % size);
        int stride = static_cast<int>(random() % 7) - 3;
        if (stride == 0) continue;
        std::vector<int> wanted;
        for (int rank = first; stride > 0 ? rank <= last : rank >= last; rank += stride)
            wanted.push_back(rank);
        const int ranges[1][3] = {{first, last, stride}};
        ASSERT_FALSE(expand_ranges(ranges, 1, size, ranks));
        ASSERT_EQ(ranks, wanted) << first << " to " << last << " by " << stride << ", seed " << GetParam();
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, GroupAlgebra, ::testing::Values(1u, 2u, 3u));

// The error must have this class, and its sentence must contain this word.
void expect_error(Error error, ErrorClass error_class, const char *word) {
    ASSERT_TRUE(error) << word;
    ErrorRecord record = error.take();
    EXPECT_EQ(record.code, static_cast<int>(error_class));
    EXPECT_NE(record.sentence.find(word), std::string::npos) << record.sentence;
}

TEST(GroupErrors, SayWhatIsWrong) {
    Peers four{4, 5, 6, 7}, result;
    std::vector<int> ranks;
    int translated[2];
    const int outside[] = {1, 4}, negative[] = {-1}, twice[] = {2, 0, 2};
    expect_error(include(four, outside, 2, result), ErrorClass::rank, "it has ranks 0 to 3");
    expect_error(exclude(four, negative, 1, result), ErrorClass::rank, "rank -1");
    expect_error(include(four, twice, 3, result), ErrorClass::rank, "twice");
    expect_error(include({}, outside, 1, result), ErrorClass::rank, "it is empty");
    expect_error(translate_ranks(four, outside, 2, four, translated), ErrorClass::rank, "rank 4");
    const int still[1][3] = {{0, 3, 0}}, beyond[1][3] = {{0, 6, 2}};
    expect_error(expand_ranges(still, 1, 4, ranks), ErrorClass::arg, "stride 0");
    expect_error(expand_ranges(beyond, 1, 4, ranks), ErrorClass::rank, "leaves the group");
}

TEST(GroupRanges, ALastThatIsNotReachedMayLieOutside) {
    std::vector<int> ranks;
    const int range[1][3] = {{1, 4, 2}};  // 1 and 3
    ASSERT_FALSE(expand_ranges(range, 1, 4, ranks));
    EXPECT_EQ(ranks, (std::vector<int>{1, 3}));
}

}  // namespace
}  // namespace lanyard
