// Tests errors as values: what they own, how context is added, how they end. Also checks that the error
// classes are those of the ABI.
#include "base/error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <type_traits>
#include <utility>

#include "base/abi_constants.h"

namespace lanyard {
namespace {

static_assert(sizeof(Error) == sizeof(void *) && std::is_trivially_copyable_v<Error>,
              "an Error travels in a register");

Error opening() { return Error(ErrorClass::no_such_file, "no such file").within("opening /x"); }

TEST(Error, IsSuccessUntilSomethingWentWrong) {
    Error none;
    EXPECT_FALSE(none);
    EXPECT_EQ(none.code(), abi::success);
    none.discard();
    ErrorRecord record = none.take();
    EXPECT_EQ(record.code, abi::success);
    EXPECT_EQ(record.sentence, "");
    EXPECT_EQ(record.about, nullptr);
}

TEST(Error, TellsWhereItWasSeenFromTheInsideOut) {
    Error error = opening().within("reading settings");
    ASSERT_TRUE(error);
    EXPECT_EQ(error.sentence(), "reading settings: opening /x: no such file");
    EXPECT_EQ(error.code(), abi::err_no_such_file);
    error.discard();
}

TEST(Error, EndsWhenItIsTaken) {
    auto object = std::make_shared<int>();
    Error error = Error(70'000, "the program's own").about(object);
    EXPECT_EQ(error.code(), 70'000);
    Error handed_on = error;  // both have the same record, and only one of them may end it
    EXPECT_EQ(&handed_on.sentence(), &error.sentence());
    ErrorRecord record = handed_on.take();
    EXPECT_FALSE(handed_on);
    EXPECT_EQ(handed_on.code(), abi::success);
    EXPECT_EQ(record.code, 70'000);
    EXPECT_EQ(record.sentence, "the program's own");
    EXPECT_EQ(record.about, object);
    Error discarded = opening();
    discarded.discard();
    EXPECT_FALSE(discarded);
}

TEST(Error, HasTheClassesOfTheAbi) {
    using enum ErrorClass;
    const std::pair<ErrorClass, int> classes[] = {
        {success, abi::success},
        {buffer, abi::err_buffer},
        {count, abi::err_count},
        {type, abi::err_type},
        {tag, abi::err_tag},
        {comm, abi::err_comm},
        {rank, abi::err_rank},
        {request, abi::err_request},
        {root, abi::err_root},
        {group, abi::err_group},
        {op, abi::err_op},
        {topology, abi::err_topology},
        {dims, abi::err_dims},
        {arg, abi::err_arg},
        {unknown, abi::err_unknown},
        {truncate, abi::err_truncate},
        {other, abi::err_other},
        {intern, abi::err_intern},
        {pending, abi::err_pending},
        {in_status, abi::err_in_status},
        {access, abi::err_access},
        {amode, abi::err_amode},
        {assert, abi::err_assert},
        {bad_file, abi::err_bad_file},
        {base, abi::err_base},
        {conversion, abi::err_conversion},
        {disp, abi::err_disp},
        {dup_datarep, abi::err_dup_datarep},
        {file_exists, abi::err_file_exists},
        {file_in_use, abi::err_file_in_use},
        {file, abi::err_file},
        {info_key, abi::err_info_key},
        {info_nokey, abi::err_info_nokey},
        {info_value, abi::err_info_value},
        {info, abi::err_info},
        {io, abi::err_io},
        {keyval, abi::err_keyval},
        {locktype, abi::err_locktype},
        {name, abi::err_name},
        {no_mem, abi::err_no_mem},
        {not_same, abi::err_not_same},
        {no_space, abi::err_no_space},
        {no_such_file, abi::err_no_such_file},
        {port, abi::err_port},
        {quota, abi::err_quota},
        {read_only, abi::err_read_only},
        {rma_attach, abi::err_rma_attach},
        {rma_conflict, abi::err_rma_conflict},
        {rma_range, abi::err_rma_range},
        {rma_shared, abi::err_rma_shared},
        {rma_sync, abi::err_rma_sync},
        {service, abi::err_service},
        {size, abi::err_size},
        {spawn, abi::err_spawn},
        {unsupported_datarep, abi::err_unsupported_datarep},
        {unsupported_operation, abi::err_unsupported_operation},
        {win, abi::err_win},
        {rma_flavor, abi::err_rma_flavor},
        {proc_aborted, abi::err_proc_aborted},
        {value_too_large, abi::err_value_too_large},
        {session, abi::err_session},
        {errhandler, abi::err_errhandler},
        {ErrorClass::abi, abi::err_abi},
    };
    for (auto [error_class, code] : classes) EXPECT_EQ(static_cast<int>(error_class), code);
}

TEST(SystemText, NamesAnErrno) {
    EXPECT_EQ(system_text(ENOSPC), "No space left on device");
    EXPECT_NE(system_text(123'456).find("123456"), std::string::npos) << system_text(123'456);
}

TEST(Must, AsksOnce) {
    int asked = 0;
    LANYARD_MUST(++asked == 1);
    EXPECT_EQ(asked, 1);
}

TEST(MustDeathTest, StopsTheProcessWithWhatDoesNotHold) {
    int size = 3;
    EXPECT_EXIT(LANYARD_MUST(size < 3), ::testing::KilledBySignal(SIGABRT),
                "'size < 3' does not hold at .*error_test.cc:");
}

}  // namespace
}  // namespace lanyard
