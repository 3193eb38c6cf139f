// Tests the check words, which encode the properties in which the calls of all ranks of a collective must
// agree. If calls differ, their check words must differ, and the error message must name the difference.
#include "coll/agreement.h"

#include <gtest/gtest.h>

#include <set>

#include "base/abi_constants.h"

namespace lanyard {
namespace {

std::string sentence(const Agreement &own, const Agreement &other) {
    Error error = disagreement(own.word(), other.word(), 3);
    return error ? error.take().sentence : "";
}

TEST(Agreement, NothingSaidAgreesWithEverything) {
    EXPECT_EQ(Agreement{}.word(), 0u);
    EXPECT_TRUE(agree(0, Agreement{CollectiveKind::barrier}.word()));
    EXPECT_FALSE(
        agree(Agreement{CollectiveKind::bcast, 0}.word(), Agreement{CollectiveKind::barrier}.word()));
}

TEST(Agreement, SentencesNameTheDifference) {
    Agreement bcast{CollectiveKind::bcast, 1, 0, 8}, reduce{CollectiveKind::reduce, 1, abi::op_sum, 8};
    EXPECT_EQ(sentence(bcast, bcast), "");
    EXPECT_NE(sentence(bcast, reduce).find("rank 3 calls MPI_Reduce where this rank calls MPI_Bcast"),
              std::string::npos);
    EXPECT_NE(sentence(bcast, {CollectiveKind::bcast, 2, 0, 8}).find("with root 2, this rank with root 1"),
              std::string::npos);
    EXPECT_NE(
        sentence(reduce, {CollectiveKind::reduce, 1, abi::op_max, 8}).find("MPI_MAX, this rank with MPI_SUM"),
        std::string::npos);
    EXPECT_NE(sentence(reduce, {CollectiveKind::reduce, 1, 1, 8}).find("an operation of the program"),
              std::string::npos);
    EXPECT_NE(sentence(bcast, {CollectiveKind::bcast, 1, 0, 16}).find("another number of bytes"),
              std::string::npos);
}

// A word has no room for every root. Those that it does not show are not named.
TEST(Agreement, SentencesNameNoWrongRoot) {
    constexpr int named = Agreement::named_roots;
    auto of = [&](int own, int other) {
        return sentence({CollectiveKind::bcast, own, 0, 8}, {CollectiveKind::bcast, other, 0, 8});
    };
    EXPECT_NE(of(0, named - 1).find("with root 255, this rank with root 0; all ranks"), std::string::npos);
    for (int other : {named, named + 1, 509, 510, 511, 100'000})
        EXPECT_EQ(of(0, other),
                  "rank 3 calls MPI_Bcast with another root than this rank; all ranks must name the "
                  "same root");
    EXPECT_EQ(of(named, named + 1), of(0, named));
}

TEST(Agreement, LargeRootsAreNotTakenForNone) {
    Agreement none{CollectiveKind::alltoallv};
    for (int root = 500; root < 2000; ++root)
        EXPECT_NE(none.word(), (Agreement{CollectiveKind::alltoallv, root}.word()));
}

// Numbers of bytes that a faulty program may confuse (one more, or twice as many) must mostly give
// different check words.
TEST(Agreement, NearNumbersOfBytesDiffer) {
    int equal = 0;
    for (int64_t bytes = 1; bytes <= 4096; ++bytes) {
        uint32_t word = Agreement{CollectiveKind::bcast, 0, 0, bytes}.word();
        equal += word == Agreement{CollectiveKind::bcast, 0, 0, bytes + 1}.word();
        equal += word == Agreement{CollectiveKind::bcast, 0, 0, bytes * 2}.word();
    }
    EXPECT_LT(equal, 2 * 4096 * 2 / 2047 + 1);
}

// On an intercommunicator, the other ranks of the root's group do not know which rank is the root.
// Their check words must agree with every root.
TEST(Agreement, WhatARankDoesNotKnowAgreesWithEverything) {
    uint32_t unknown =
        Agreement{CollectiveKind::reduce, Agreement::unknown_root, Agreement::unknown_reduction}.word();
    EXPECT_TRUE(agree(unknown, Agreement{CollectiveKind::reduce, 5, abi::op_sum, 8}.word()));
    EXPECT_TRUE(agree(Agreement{CollectiveKind::reduce, 511, 1, 12}.word(), unknown));
    EXPECT_FALSE(agree(unknown, Agreement{CollectiveKind::bcast, 5}.word()));
    EXPECT_TRUE(agree(Agreement{CollectiveKind::bcast, 5}.word(),
                      Agreement{CollectiveKind::bcast, 5, 0, 100}.word()));
}

TEST(Agreement, MakingAPersistentOperationIsAnotherCall) {
    uint32_t blocking = Agreement{CollectiveKind::bcast, 0, 0, 8}.word(), made = persistent_form(blocking);
    EXPECT_TRUE(agree(made, persistent_form(blocking)));
    EXPECT_FALSE(agree(blocking, made));
    Error error = disagreement(blocking, made, 1);
    EXPECT_TRUE(error.is_mismatch());
    EXPECT_NE(error.take().sentence.find("rank 1 calls MPI_Bcast_init where this rank calls MPI_Bcast;"),
              std::string::npos);
}

TEST(Agreement, EveryKindHasANameOfItsOwn) {
    std::set<std::string> names;
    for (int kind = 0; kind < static_cast<int>(CollectiveKind::count_of_them); ++kind)
        names.insert(name_of(static_cast<CollectiveKind>(kind)));
    EXPECT_EQ(names.size(), static_cast<size_t>(CollectiveKind::count_of_them));
}

}  // namespace
}  // namespace lanyard
