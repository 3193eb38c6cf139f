// Where a thread sleeps until it is rung for, or, while armed, until something comes on the sockets: those are in a one-shot set, so that an event
// wakes it once and none wakes it while it is not armed.
// Thread rule: any thread; wait() by the one that sleeps.
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

    // False when the system gave no descriptors for it; errno says why, after the constructor.
    bool usable() const { return usable_; }
    void arm();
    void disarm();
    void ring();
    // True when there is something on the sockets.
    bool wait(uint64_t limit_ns);

private:
    const int sockets_;
    int set_;   // epoll: the sockets' one, one-shot, and the bell
    int bell_;  // eventfd
    bool usable_;
};

}  // namespace lanyard
