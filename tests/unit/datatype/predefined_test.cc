// Tests the predefined datatypes as objects, and constructors with exact examples.
#include <gtest/gtest.h>

#include <cstring>

#include "base/abi_constants.h"
#include "datatype/construct.h"
#include "datatype/cursor.h"
#include "datatype/elements.h"
#include "datatype/layout.h"
#include "datatype/predefined.h"

namespace lanyard {
namespace {

// A datatype that a test has made, released at the end of the test.
struct Own {
    Datatype *type = nullptr;
    ~Own() {
        if (type) release(*type);
    }
    Datatype **operator&() { return &type; }
    Datatype *operator->() { return type; }
    Datatype &operator*() { return *type; }
};

Datatype &of(int value) { return *predefined_datatype(value); }

void ok(Error error) {
    if (error) FAIL() << error.take().sentence;
}

TEST(Predefined, MatchTheTable) {
    for (const predefined::Type &row : predefined::types) {
        Datatype *type = predefined_datatype(row.value);
        ASSERT_NE(type, nullptr) << row.name;
        EXPECT_EQ(type->name.get(), row.name);
        EXPECT_EQ(type->size, row.size);
        EXPECT_EQ(type->extent, row.extent);
        EXPECT_EQ(type->abi_value, row.value);
        EXPECT_TRUE(type->committed && type->predefined());
        EXPECT_EQ(type->contiguous, row.size == row.extent) << row.name;
    }
    EXPECT_EQ(predefined_datatype(abi::datatype_null), nullptr);
    EXPECT_EQ(predefined_datatype(0), nullptr);
    EXPECT_EQ(predefined_datatype(0x300), nullptr);
}

TEST(Predefined, PaddedPairs) {
    struct ShortInt {
        short value;
        int index;
    } pairs[2] = {{0x1122, 0x33445566}, {0x7788, 0x01020304}};
    Cursor cursor({reinterpret_cast<std::byte *>(pairs), 2, &of(abi::type_short_int)});
    unsigned char packed[12];
    ASSERT_EQ(cursor.pack(packed, 100), 12u);
    const unsigned char expected[] = {0x22, 0x11, 0x66, 0x55, 0x44, 0x33, 0x88, 0x77, 4, 3, 2, 1};
    EXPECT_EQ(std::memcmp(packed, expected, 12), 0);
    EXPECT_EQ(of(abi::type_long_double_int).true_extent, 20);
    EXPECT_EQ(of(abi::type_double_int).true_extent, 12);
}

TEST(Constructors, StructIsPadded) {
    Own made;
    ok(make_struct({1, 1}, {0, 8}, {&of(abi::type_double), &of(abi::type_char)}, &made));
    EXPECT_EQ(made->size, 9);
    EXPECT_EQ(made->extent, 16);
    EXPECT_EQ(made->true_extent, 9);
}

// MPI-5.0 5.1.7: once a bound is set, only set bounds count.
TEST(Constructors, SetBoundsRule) {
    Own small, both, three;
    ok(make_resized(of(abi::type_int), -3, 9, &small));
    EXPECT_EQ(small->lower_bound, -3);
    EXPECT_EQ(small->extent, 9);
    EXPECT_EQ(small->true_lower_bound, 0);
    EXPECT_EQ(small->true_extent, 4);
    ok(make_contiguous(2, *small, &both));
    EXPECT_EQ(both->lower_bound, -3);
    EXPECT_EQ(both->extent, 18);
    ok(make_struct({1, 1}, {0, 100}, {&*small, &of(abi::type_double)}, &three));
    EXPECT_EQ(three->lower_bound, -3);
    EXPECT_EQ(three->extent, 9);
    EXPECT_EQ(three->true_extent, 108);
}

TEST(Constructors, EmptyTypes) {
    Own none;
    ok(make_contiguous(0, of(abi::type_int), &none));
    EXPECT_EQ(none->size, 0);
    EXPECT_EQ(none->extent, 0);
    EXPECT_TRUE(none->contiguous);
    Cursor cursor({nullptr, 5, &*none});
    EXPECT_EQ(cursor.remaining(), 0);
    EXPECT_EQ(cursor.pack(nullptr, 10), 0u);
}

TEST(Constructors, RefuseBadArguments) {
    Datatype *made = nullptr;
    for (Error error :
         {make_contiguous(-1, of(abi::type_int), &made), make_vector(3, -2, 1, of(abi::type_int), &made),
          make_indexed({1, -1}, {0, 0}, of(abi::type_int), &made),
          make_hvector(4, 1, int64_t{1} << 61, of(abi::type_int), &made),
          make_contiguous(int64_t{1} << 60, of(abi::type_double), &made)}) {
        EXPECT_TRUE(error);
        EXPECT_EQ(error.code(), static_cast<int>(ErrorClass::arg));
        error.discard();
    }
    EXPECT_EQ(made, nullptr);
}

// The datatypes from which a datatype was made must live as long as it does.
TEST(Constructors, LiveAsLongAsTheyAreUsed) {
    Own inner, outer;
    ok(make_vector(3, 1, 2, of(abi::type_int), &inner));
    Datatype *address = &*inner;
    ok(make_contiguous(2, *inner, &outer));
    release(*inner);
    inner.type = nullptr;
    EXPECT_TRUE(datatype_pool().holds(address));
    release(*outer);
    outer.type = nullptr;
    EXPECT_FALSE(datatype_pool().holds(address));
}

TEST(Constructors, EqualLayoutsMeet) {
    Own columns, blocks, dense, whole;
    ok(make_vector(4, 1, 5, of(abi::type_double), &columns));
    ok(make_indexed_block(1, {0, 5, 10, 15}, of(abi::type_double), &blocks));
    for (Datatype *type : {&*columns, &*blocks}) {
        EXPECT_EQ(type->layout->shape, Layout::Shape::strided);
        EXPECT_EQ(type->layout->stride, 40);
        EXPECT_EQ(type->layout->count, 4);
    }
    ok(make_indexed({2, 3, 1}, {0, 2, 5}, of(abi::type_int), &dense));
    EXPECT_TRUE(dense->contiguous);
    ok(make_vector(7, 3, 3, of(abi::type_int), &whole));
    EXPECT_TRUE(whole->contiguous);
}

// No memory is touched: positions and addresses beyond 5 GiB are only computed.
TEST(Large, CountsAndExtents) {
    constexpr int64_t billion = 1'000'000'000;
    Own big, column, huge;
    ok(make_contiguous(3 * billion, of(abi::type_double), &big));
    EXPECT_EQ(big->size, 24 * billion);
    EXPECT_TRUE(big->contiguous);
    ok(make_vector(2 * billion, 1, 3, of(abi::type_int), &column));
    EXPECT_EQ(column->size, 8 * billion);
    EXPECT_EQ(column->extent, 24 * billion - 8);
    auto *base = reinterpret_cast<std::byte *>(uintptr_t{1} << 40);
    Cursor cursor({base, 3, &*column}, 16 * billion + 6);
    iovec runs[2];
    ASSERT_EQ(cursor.runs(runs, 2, 100), 2);
    EXPECT_EQ(static_cast<std::byte *>(runs[0].iov_base) - base, 2 * column->extent + 12 + 2);
    EXPECT_EQ(runs[0].iov_len, 2u);
    EXPECT_EQ(static_cast<std::byte *>(runs[1].iov_base) - base, 2 * column->extent + 24);
    ok(make_hindexed({1, 1}, {0, 6 * billion}, *big, &huge));
    EXPECT_EQ(huge->extent, 30 * billion);
    EXPECT_EQ(whole_count(*big, 48 * billion), 2);
    EXPECT_EQ(basic_elements(*column, 20 * billion), 5 * billion);
    EXPECT_EQ(bytes_of_elements(*column, 5 * billion), 20 * billion);
}

TEST(Elements, CountedInsideParts) {
    Own made;
    ok(make_struct({2, 1, 3}, {0, 8, 32},
                   {&of(abi::type_int), &of(abi::type_double_int), &of(abi::type_short)}, &made));
    ASSERT_EQ(made->size, 26);
    ASSERT_EQ(made->elements, 7);
    const int64_t undefined = abi::undefined;
    const int64_t expected[] = {0, undefined, undefined, undefined, 1, undefined, undefined, undefined, 2};
    for (int64_t bytes = 0; bytes < 9; ++bytes)
        EXPECT_EQ(basic_elements(*made, bytes), expected[bytes]) << bytes;
    EXPECT_EQ(basic_elements(*made, 16), 3);
    EXPECT_EQ(basic_elements(*made, 20), 4);
    EXPECT_EQ(basic_elements(*made, 22), 5);
    EXPECT_EQ(basic_elements(*made, 26 + 22), 12);
    EXPECT_EQ(whole_count(*made, 27), undefined);
    for (int64_t elements = 0; elements < 20; ++elements)
        EXPECT_EQ(basic_elements(*made, bytes_of_elements(*made, elements)), elements);
}

}  // namespace
}  // namespace lanyard
