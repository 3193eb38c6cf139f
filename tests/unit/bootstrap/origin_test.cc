// Tests how a process finds out that a rank of another launcher has started it. (tests/launch/test_origin.py
// tests whole jobs.)
#include "bootstrap/origin.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace lanyard {
namespace {

// Runs a function in a child of this process and returns the result, which must be below 256.
int in_child(const std::function<int()> &run) {
    pid_t child = fork();
    if (child == 0) _exit(run());
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Origin, ProcessThatHasNotJoinedIsNoRank) {
    EXPECT_EQ(in_child([] { return below_such_process({}); }), 0);
    // A process that has joined is not below itself.
    EXPECT_EQ(in_child([] {
                  claim_process();
                  return below_such_process({});
              }),
              0);
}

// No connection to the name of a rank is ever accepted, so at some time the kernel takes no more.
TEST(Origin, RankIsKnownHoweverManyProgramsItHasStarted) {
    constexpr int asked = 200;
    int known = in_child([] {
        claim_process();
        return in_child([] {
            int answers = 0;
            for (int i = 0; i < asked; ++i) answers += below_such_process({});
            return answers;
        });
    });
    EXPECT_EQ(known, asked);
}

}  // namespace
}  // namespace lanyard
