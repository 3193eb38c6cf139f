// Sends messages among threads that have no communicator yet.
#include "comm/meeting.h"

#include <gtest/gtest.h>

#include "unit/comm/thread_job.h"

namespace lanyard {
namespace {

// A member that did not get the first member's data tells those behind it, which would otherwise use data
// that nobody sent. Here the data is too long for rank 2, from which rank 3 gets it.
TEST(Meetings, AMemberWithoutTheDataTellsThoseBehindIt) {
    test::run_job(4, 4, 4, [](test::Rank &rank) {
        Meeting meeting{1 << 20, 3, {0, 1, 2, 3}, {0, 1, 2, 3}, rank.world().rank};
        uint64_t data[2] = {rank.world().rank == 0 ? 7u : 0u, 0};
        size_t bytes = rank.world().rank == 0 ? sizeof data : sizeof data[0];
        Error error = spread(rank.messenger, meeting, data, bytes);
        EXPECT_EQ(!error, rank.world().rank == 0);
        error.discard();
        EXPECT_TRUE(rank.world().rank != 3 || data[0] == 0);
    });
}

}  // namespace
}  // namespace lanyard
