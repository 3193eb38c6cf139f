// Tests the kernel's sockets while a child of fork() has copies of them: the process that opened a socket
// ends the connection, and the child does not. Also tests what the conformance suite does not call.
#include "net/system_sockets.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lanyard {
namespace {

// Waits for at most about five seconds.
template <class Condition>
bool within_time(Condition condition) {
    for (int turn = 0; turn < 5000; ++turn) {
        if (condition()) return true;
        usleep(1000);
    }
    return false;
}

class SystemSocketsTest : public ::testing::Test {
protected:
    SystemSocketsTest() {
        Address loopback;
        EXPECT_TRUE(parse_address("127.0.0.1", loopback));
        listener = sockets.listen(loopback);
        EXPECT_GE(listener, 0);
        far = others.connect(sockets.bound(listener));
        EXPECT_GE(far, 0);
        EXPECT_TRUE(within_time([&] { return (near = sockets.accept(listener)) >= 0; }));
        sockets.watch(near, token, false);
    }
    ~SystemSocketsTest() override {
        sockets.close(listener);
        if (far >= 0) others.close(far);
    }
    void say(char byte) {
        iovec part{&byte, 1};
        EXPECT_EQ(others.write(far, &part, 1), 1);
    }
    static ssize_t read(Sockets &from, int socket) {
        char byte;
        iovec part{&byte, 1};
        return from.read(socket, &part, 1);
    }

    static constexpr uint64_t token = 7;
    SystemSockets sockets, others;
    int listener = -1, near = -1, far = -1;  // `near` is a socket of `sockets`, and `far` of `others`
};

TEST_F(SystemSocketsTest, CloseEndsAConnectionOfWhichAChildHasACopy) {
    int channel[2];
    ASSERT_EQ(pipe(channel), 0);
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        ::close(channel[1]);
        char byte;
        _exit(::read(channel[0], &byte, 1) == 0 ? 0 : 1);  // until the parent closes its end
    }
    ::close(channel[0]);
    sockets.close(near);
    EXPECT_TRUE(within_time([&] { return read(others, far) == 0; })) << "the other end is told";
    Sockets::Ready ready[4];
    EXPECT_EQ(sockets.ready(ready, 4), 0) << "nothing is watched any more";
    ::close(channel[1]);
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

TEST_F(SystemSocketsTest, AChildThatClosesItsCopyEndsNothing) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        sockets.close(near);
        _exit(0);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    say('a');
    Sockets::Ready ready[4];
    EXPECT_TRUE(within_time([&] { return sockets.ready(ready, 4) == 1; })) << "it is still watched";
    EXPECT_EQ(ready[0].token, token);
    EXPECT_EQ(read(sockets, near), 1);
    EXPECT_EQ(read(sockets, near), -EAGAIN) << "the connection still exists";
    sockets.close(near);
}

TEST_F(SystemSocketsTest, KnowsWhetherSomethingIsUnread) {
    EXPECT_FALSE(sockets.has_unread(near));
    say('a');
    EXPECT_TRUE(within_time([&] { return sockets.has_unread(near); }));
    EXPECT_EQ(read(sockets, near), 1) << "it was left there";
    EXPECT_FALSE(sockets.has_unread(near));
    others.close(far);
    far = -1;
    EXPECT_TRUE(within_time([&] { return sockets.has_unread(near); })) << "the end of the stream counts";
    sockets.close(near);
}

}  // namespace
}  // namespace lanyard
