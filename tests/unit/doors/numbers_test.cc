// Tests how numbers, texts and statuses pass between the program and the typed functions. One ABI has the
// standard's values, and everything passes unchanged. Another ABI has other values.
#include "doors/numbers.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "doors/standard_values.h"
#include "doors/statuses.h"

namespace lanyard::doors {

namespace {

struct Same : StandardValues {
    static constexpr bool of_the_standard = true;
    using MPI_Status = Status;
};

// In this ABI, ranks are 1000 more than the standard's, and the fields of a status have another order.
struct Other : StandardValues {
    static constexpr bool of_the_standard = false;
    struct MPI_Status {
        int MPI_TAG, MPI_SOURCE, MPI_ERROR;
        int64_t bytes;
    };
    static int rank_in(int rank) { return rank - 1000; }
    static int rank_out(int rank) { return rank + 1000; }
    static int error_code_out(int code) { return -code; }
    static void count_from_program(const MPI_Status &given, Status &status) { status.set_count(given.bytes); }
    static void count_to_program(const Status &status, MPI_Status &place) { place.bytes = status.count(); }
};

TEST(DoorNumbers, LargeCountsPassAsTheyAre) {
    int64_t place = 5;
    CountResult<true> result(&place);
    EXPECT_EQ(result.data(), &place);
    result.read();
    EXPECT_FALSE(result.store("count"));
    result.store_or_undefined();
    EXPECT_EQ(place, 5);
}

TEST(DoorNumbers, CountsMustFitIntoInt) {
    int place = 7;
    CountResult<false> result(&place);
    result.read();
    EXPECT_EQ(*result.data(), 7);
    *result.data() = 8;
    EXPECT_FALSE(result.store("count"));
    EXPECT_EQ(place, 8);
    *result.data() = int64_t{1} << 40;
    Error error = result.store("count");
    ASSERT_TRUE(error);
    EXPECT_EQ(error.code(), static_cast<int>(ErrorClass::value_too_large));
    error.discard();
    EXPECT_EQ(place, 8);
    result.store_or_undefined();
    EXPECT_EQ(place, abi::undefined);
}

TEST(DoorNumbers, ResultsAreTranslated) {
    int place = 1003;
    Result<Other, Other::rank_out> result(&place);
    result.read(Other::rank_in);
    EXPECT_EQ(*result.data(), 3);
    *result.data() = 4;
    EXPECT_EQ(place, 1003);
    result.store();
    EXPECT_EQ(place, 1004);
    Result<Other, Other::rank_out> missing(nullptr);
    EXPECT_EQ(missing.data(), nullptr);
    missing.store();
    Result<Same, Same::rank_out> same(&place);
    EXPECT_EQ(same.data(), &place);
    same.store();
    EXPECT_EQ(place, 1004);
}

TEST(DoorNumbers, ArraysAreTranslatedWhereverTheyLie) {
    for (int count : {0, 1, 64, 65, 500}) {
        std::vector<int> given(static_cast<size_t>(count), 1002);
        Translated<Other, Other::rank_in> ranks;
        EXPECT_FALSE(ranks.read("ranks", given.data(), count));
        for (int i = 0; i < count; ++i) EXPECT_EQ(ranks.data()[i], 2);
        translate<Other, Other::rank_out>(given.data(), count);
        for (int rank : given) EXPECT_EQ(rank, 2002);
        Translated<Same, Same::rank_in> same;
        EXPECT_FALSE(same.read("ranks", given.data(), count));
        EXPECT_EQ(same.data(), given.data());
        translate<Same, Same::rank_out>(given.data(), count);
        for (int rank : given) EXPECT_EQ(rank, 2002);
    }
    translate<Other, Other::rank_out>(nullptr, 5);
    Translated<Other, Other::rank_in> missing;
    Error error = missing.read("ranks", nullptr, 2);
    ASSERT_TRUE(error);
    EXPECT_EQ(error.sentence(), "ranks is a null pointer");
    error.discard();
}

TEST(DoorNumbers, TextsAreCutToTheRoomThereIs) {
    char place[8];
    TextResult<20, 8> text(place);
    std::strcpy(text.data(), "abcdefghijk");
    int length = -1;
    text.store(&length);
    EXPECT_STREQ(place, "abcdefg");
    EXPECT_EQ(length, 7);
    TextResult<8, 8> whole(place);
    EXPECT_EQ(whole.data(), place);
    whole.store(&length);
    EXPECT_EQ(length, 7);
    EXPECT_FALSE((check_room<8, 8>("name", "as long as it may be, the library says", ErrorClass::arg)));
    EXPECT_FALSE((check_room<20, 8>("name", "abcdefg", ErrorClass::arg)));
    Error error = check_room<20, 8>("name", "abcdefgh", ErrorClass::arg);
    EXPECT_TRUE(error);
    error.discard();
}

TEST(DoorStatuses, TheLibrarysFormPassesAsItIs) {
    Status places[2] = {};
    EXPECT_EQ(ResultStatus<Same>(places).data(), places);
    ResultStatuses<Same> all;
    EXPECT_FALSE(all.reserve("statuses", places, 2));
    EXPECT_EQ(all.data(), places);
    EXPECT_EQ((GivenStatus<Same, StatusPart::tag>(places).data()), places);
}

TEST(DoorStatuses, AnotherFormIsCopied) {
    Other::MPI_Status place{11, 12, 13, 14};
    ResultStatus<Other> result(&place);
    result.store(&place);
    EXPECT_EQ(place.MPI_SOURCE, 12);  // the library has set nothing
    result.data()->source = 3;
    result.data()->tag = 4;
    result.data()->set_count(5);
    result.store(&place);
    EXPECT_EQ(place.MPI_SOURCE, 1003);
    EXPECT_EQ(place.MPI_TAG, 4);
    EXPECT_EQ(place.bytes, 5);
    EXPECT_EQ(place.MPI_ERROR, 13);
    result.data()->error = 6;
    result.store(&place);
    EXPECT_EQ(place.MPI_ERROR, -6);
    GivenStatus<Other, StatusPart::source> source(&place);
    EXPECT_EQ(source.data()->source, 3);
    source.data()->source = 8;
    source.store(&place);
    EXPECT_EQ(place.MPI_SOURCE, 1008);
    EXPECT_EQ(from_program<Other>(place).count(), 5);
}

}  // namespace

}  // namespace lanyard::doors
