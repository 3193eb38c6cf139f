// Where a thread sleeps until the bell rings or, while armed, until something arrives on the sockets. The
// sockets are in a one-shot set: an event wakes the thread once, and no event wakes it while the set is not
// armed.
// Thread rule: any thread; wait() by the thread that sleeps.
#pragma once

#include <cstdint>

namespace lanyard {

class SocketBell {
public:
    // `sockets` is readable when there is something on one of them.
    explicit SocketBell(int sockets);
    ~SocketBell();
    SocketBell(const SocketBell &) = delete;
    SocketBell &operator=(const SocketBell &) = delete;

    // False if the system gave no descriptors for it; errno has the reason right after the constructor.
    bool usable() const { return usable_; }
    void arm();
    void disarm();
    void ring();
    // True if there is something on the sockets.
    bool wait(uint64_t limit_ns);

private:
    const int sockets_;
    int set_;   // epoll: the sockets' descriptor, one-shot, and the bell
    int bell_;  // eventfd
    bool usable_;
};

}  // namespace lanyard
