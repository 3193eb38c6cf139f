// Tests error codes: failures and their sentences, and classes and codes that the program adds and removes.
#include <gtest/gtest.h>

#include "base/abi_constants.h"
#include "comm/error_codes.h"
#include "comm/errhandler.h"

namespace lanyard {
namespace {

int class_of(Error error) { return error.take().code; }
constexpr int bad_argument = static_cast<int>(ErrorClass::arg);

TEST(Failures, KeepTheirSentenceAndClass) {
    int first = code_of_failure(ErrorClass::rank, "the rank 9 is too large");
    int second = code_of_failure(ErrorClass::truncate, "the message is too long");
    EXPECT_NE(first, second);
    EXPECT_EQ(meaning_of(first).text, "the rank 9 is too large");
    EXPECT_EQ(meaning_of(first).error_class, abi::err_rank);
    EXPECT_EQ(meaning_of(second).error_class, abi::err_truncate);
    EXPECT_GT(first, abi::err_lastcode);
}

TEST(Failures, OldOnesKeepTheirClass) {
    int old = code_of_failure(ErrorClass::rank, "old");
    for (int i = 0; i < 256; ++i) {
        EXPECT_TRUE(meaning_of(old).has_text) << i;
        code_of_failure(ErrorClass::tag, "newer");
    }
    EXPECT_TRUE(meaning_of(old).known);
    EXPECT_FALSE(meaning_of(old).has_text);
    EXPECT_EQ(meaning_of(old).error_class, abi::err_rank);
}

TEST(Codes, StandardClassesAreKnownAndOthersAreNot) {
    for (int value : {0, abi::err_rank, abi::err_abi, abi::err_lastcode}) {
        EXPECT_TRUE(meaning_of(value).known) << value;
        EXPECT_EQ(meaning_of(value).error_class, value);
    }
    for (int value : {-1, 63, 900, abi::err_lastcode + 100000})
        EXPECT_FALSE(meaning_of(value).known) << value;
}

TEST(Codes, TheProgramAddsAndRemoves) {
    int added_class = add_error_class();
    EXPECT_GT(added_class, abi::err_lastcode);
    EXPECT_EQ(*last_used_code(), added_class);
    EXPECT_EQ(meaning_of(added_class).text, "");
    EXPECT_TRUE(meaning_of(added_class).has_text);
    int code = 0;
    ASSERT_FALSE(add_error_code(added_class, code));
    EXPECT_EQ(meaning_of(code).error_class, added_class);
    ASSERT_FALSE(add_error_string(code, "no tea left"));
    EXPECT_EQ(meaning_of(code).text, "no tea left");

    EXPECT_EQ(class_of(remove_error_class(added_class)), bad_argument);  // it has a code
    EXPECT_EQ(class_of(remove_error_code(code)), bad_argument);          // it has a string
    ASSERT_FALSE(remove_error_string(code));
    EXPECT_EQ(class_of(remove_error_string(code)), bad_argument);
    ASSERT_FALSE(remove_error_code(code));
    EXPECT_EQ(class_of(remove_error_code(code)), bad_argument);
    ASSERT_FALSE(remove_error_class(added_class));
    EXPECT_FALSE(meaning_of(added_class).known);
}

TEST(Codes, WhatTheProgramMayNotTouch) {
    int code = 0;
    EXPECT_EQ(class_of(remove_error_class(0)), bad_argument);
    EXPECT_EQ(class_of(remove_error_code(abi::err_rank)), bad_argument);
    EXPECT_EQ(class_of(add_error_string(abi::err_rank, "mine")), bad_argument);
    EXPECT_EQ(class_of(add_error_code(77777, code)), bad_argument);
    ASSERT_FALSE(add_error_code(abi::err_other, code));
    EXPECT_EQ(class_of(add_error_code(code, code)), bad_argument);
    EXPECT_EQ(class_of(add_error_string(code, std::string(512, 'x'))), bad_argument);
    ASSERT_FALSE(remove_error_code(code));
}

TEST(Errhandlers, AreCounted) {
    Errhandler *made = errhandler_pool().create(), *place = nullptr;
    replace_errhandler(place, errors_return());
    replace_errhandler(place, *made);
    release_errhandler(made);  // as MPI_Errhandler_free of the program does
    EXPECT_TRUE(errhandler_pool().holds(made));
    replace_errhandler(place, errors_are_fatal());
    EXPECT_FALSE(errhandler_pool().holds(made));
    release_errhandler(&errors_are_fatal());
    EXPECT_EQ(place, &errors_are_fatal());
}

}  // namespace
}  // namespace lanyard
