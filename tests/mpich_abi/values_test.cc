// Tests the translations of the front end for the MPICH ABI: each constant and predefined handle in both
// directions, statuses, error codes and buffers.
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "doors/mpich_abi/abi.h"
#include "doors/numbers.h"
#include "doors/statuses.h"

namespace lanyard::mpich_abi {

namespace {

using Statuses = doors::ResultStatuses<Abi>;
using doors::copy_text;

#include "mpich_values.h"

// Makes the definitions of the ABI available to the tests under their own names.
class MpichValues : public testing::Test, protected Abi {
protected:
    using ResultStatus = doors::ResultStatus<Abi>;
};

TEST_F(MpichValues, ConstantsCrossBothWays) {
    for (const Number &number : numbers) {
        EXPECT_EQ(number.in(number.here), number.standard) << number.name;
        EXPECT_EQ(number.out(number.standard), number.here) << number.name;
    }
    EXPECT_GT(std::size(numbers), 180U);
}

// A number that is a constant in the standard's ABI, but not in the MPICH ABI, must not be accepted as this
// constant.
TEST_F(MpichValues, StandardValuesDoNotComeInAsTheyAre) {
    for (const Number &number : numbers)
        if (number.in(number.standard) == number.standard) {
            bool one_here = false;
            for (const Number &other : numbers)
                one_here |= other.here == number.standard && other.standard == number.standard;
            EXPECT_TRUE(one_here) << number.name;
        }
}

TEST_F(MpichValues, OtherNumbersStayAsTheyAre) {
    for (int value : {0, 1, 7, 123456, INT32_MAX}) {
        EXPECT_EQ(rank_in(value), value);
        EXPECT_EQ(rank_out(value), value);
        EXPECT_EQ(tag_in(value), value);
    }
    EXPECT_EQ(keyval_in(70000), 70000);
    EXPECT_EQ(split_type_in(abi::undefined), abi::undefined);
    EXPECT_EQ(distribution_argument_in(4), 4);
    EXPECT_EQ(view_displacement_in(int64_t{1} << 40), int64_t{1} << 40);
}

TEST_F(MpichValues, MasksCrossBitByBit) {
    int both = abi::mode_create | abi::mode_rdwr;
    EXPECT_EQ(amode_in(1 | 8), both);
    EXPECT_EQ(amode_out(both), 1 | 8);
    EXPECT_EQ(amode_in(1 << 20), no_such_value);
    EXPECT_EQ(assertion_in(0), 0);
    EXPECT_EQ(assertion_in(2048 | 16384), abi::mode_nostore | abi::mode_nosucceed);
}

TEST_F(MpichValues, PredefinedHandlesCrossBothWays) {
    std::set<uint32_t> seen;
    for (const Handle &handle : handles) {
        EXPECT_EQ(handle.in(handle.here), handle.standard) << handle.name;
        EXPECT_EQ(handle.out(handle.standard), handle.here) << handle.name;
        seen.insert(handle.here);
    }
    EXPECT_GT(seen.size(), 90U);
    // MPIX_C_FLOAT16 exists only in this ABI. It is translated to MPI_REAL2. MPI_REAL2 is always translated
    // back to MPIX_C_FLOAT16.
    EXPECT_EQ(HandleType<MPI_Datatype>::predefined.standard(0x4c000246), abi::type_real2);
    EXPECT_EQ(HandleType<MPI_Datatype>::predefined.standard(0x4c000226), abi::type_real2);
    EXPECT_EQ(HandleType<MPI_Datatype>::predefined.bits(abi::type_real2), 0x4c000246U);
    EXPECT_EQ(HandleType<MPI_Comm>::predefined.standard(0x44000002), 0);
    EXPECT_EQ(HandleType<MPI_Datatype>::predefined.standard(0x44000000), 0);
    EXPECT_EQ(HandleType<MPI_Datatype>::predefined.standard(0), 0);
}

TEST_F(MpichValues, ErrorCodes) {
    EXPECT_EQ(error_code_out(abi::err_truncate), 14);
    EXPECT_EQ(error_code_in(14), abi::err_truncate);
    int failure = 1 << 29 | 77 << 16 | 5 << 8 | abi::err_truncate;
    EXPECT_EQ(error_code_out(failure), 1 << 29 | 77 << 16 | 5 << 8 | 14);
    EXPECT_EQ(error_code_in(error_code_out(failure)), failure);
    // Codes that a program adds are above MPI_ERR_LASTCODE in both ABIs.
    EXPECT_EQ(error_code_in(0x3fffffff), abi::err_lastcode);
    EXPECT_EQ(error_code_out(abi::err_lastcode), 0x3fffffff);
    EXPECT_EQ(error_code_out(abi::err_lastcode + 1), 0x40000000);
    EXPECT_EQ(error_code_in(0x40000005), abi::err_lastcode + 6);
}

TEST_F(MpichValues, Buffers) {
    int data;
    EXPECT_EQ(buffer_in(&data), &data);
    EXPECT_EQ(buffer_in(static_cast<void *>(nullptr)), nullptr);
    EXPECT_TRUE(in_place(buffer_in(reinterpret_cast<void *>(-1))));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer_in(reinterpret_cast<void *>(-2))), abi::buffer_automatic);
    EXPECT_EQ(attached_buffer_out(reinterpret_cast<void *>(abi::buffer_automatic)),
              reinterpret_cast<void *>(-2));
    EXPECT_EQ(attached_buffer_out(&data), &data);
}

TEST_F(MpichValues, StatusesCrossWithLargeCounts) {
    static_assert(sizeof(MPI_Status) == 20);
    Status status{};
    status.source = abi::proc_null;
    status.tag = abi::any_tag;
    status.error = abi::err_truncate;
    status.set_count((int64_t{1} << 62) + 12345678901);
    status.cancelled = 1;
    MPI_Status there{};
    doors::transfer_to_program<Abi>(status, there);
    EXPECT_EQ(there.MPI_SOURCE, -1);
    EXPECT_EQ(there.MPI_TAG, -1);
    EXPECT_EQ(there.count_hi_and_cancelled & 1, 1);
    there.MPI_ERROR = error_code_out(status.error);
    EXPECT_EQ(there.MPI_ERROR, 14);
    Status back = doors::from_program<Abi>(there);
    EXPECT_EQ(back.count(), status.count());
    EXPECT_EQ(back.source, abi::proc_null);
    EXPECT_EQ(back.tag, abi::any_tag);
    EXPECT_EQ(back.error, 14);  // the number that the program knows, in this ABI
    EXPECT_EQ(back.cancelled, 1);
}

TEST_F(MpichValues, WhatTheLibraryDoesNotSetStays) {
    MPI_Status place;
    std::memset(&place, 0x5a, sizeof place);
    MPI_Status before = place;
    ResultStatus untouched(&place);
    untouched.store(&place);
    EXPECT_EQ(std::memcmp(&place, &before, sizeof place), 0);
    ResultStatus received(&place);
    received.data()->source = 3;
    received.data()->tag = 4;
    received.data()->set_count(20);
    received.data()->cancelled = 0;
    received.store(&place);
    EXPECT_EQ(place.MPI_SOURCE, 3);
    EXPECT_EQ(place.count_lo, 20);
    EXPECT_EQ(place.MPI_ERROR, before.MPI_ERROR);
    EXPECT_EQ(ResultStatus(nullptr).data(), nullptr);
    EXPECT_EQ(status_in(reinterpret_cast<MPI_Status *>(1)), nullptr);
}

TEST_F(MpichValues, ArraysOfStatusesShortAndLong) {
    for (int count : {0, 1, 32, 33, 1000}) {
        std::vector<MPI_Status> places(static_cast<size_t>(count), MPI_Status{1, 2, 3, 4, 5});
        Statuses statuses;
        EXPECT_FALSE(statuses.reserve("statuses", places.data(), count));
        if (count > 0) statuses.data()[count - 1].error = abi::err_pending;
        statuses.store(places.data());
        for (int i = 0; i < count; ++i)
            EXPECT_EQ(places[static_cast<size_t>(i)].MPI_ERROR, i == count - 1 ? 18 : 5);
    }
    Statuses ignored;
    EXPECT_FALSE(ignored.reserve("statuses", nullptr, 5));
    EXPECT_EQ(ignored.data(), nullptr);
}

TEST_F(MpichValues, TextsFitIntoShorterArrays) {
    char place[8];
    int length = 0;
    copy_text("abc", place, sizeof place, &length);
    EXPECT_STREQ(place, "abc");
    EXPECT_EQ(length, 3);
    copy_text("abcdefghijk", place, sizeof place, &length);
    EXPECT_STREQ(place, "abcdefg");
    EXPECT_EQ(length, 7);
    copy_text("abcdefghijk", place, sizeof place, nullptr);
}

}  // namespace

}  // namespace lanyard::mpich_abi
