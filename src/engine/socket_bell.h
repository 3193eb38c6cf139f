// A thread sleeps at a SocketBell until the bell rings. The sockets are in a one-shot epoll set. While this
// set is armed, an event on the sockets wakes the thread as well. After this event, no other event on the
// sockets wakes the thread until the set is armed again.
// Thread rule: any thread; wait() by the thread that sleeps.
// Tested by: tests/unit/engine/helper_test.cc.
#pragma once

#include <cstdint>

namespace lanyard {

class SocketBell {
public:
    // `sockets`: a descriptor that is readable when something has arrived on one of the sockets. The caller
    // owns it.
    explicit SocketBell(int sockets);
    ~SocketBell();
    SocketBell(const SocketBell &) = delete;
    SocketBell &operator=(const SocketBell &) = delete;

    // Returns false if the system gave the constructor no descriptors; errno has the reason right after the
    // constructor.
    bool usable() const { return usable_; }
    // The functions below require usable().
    void arm();
    void disarm();
    void ring();
    // Sleeps for at most limit_ns. Returns true if something has arrived on the sockets.
    bool wait(uint64_t limit_ns);

private:
    const int sockets_;
    int set_;   // epoll set of the sockets' descriptor (one-shot) and the bell
    int bell_;  // eventfd
    bool usable_;
};

}  // namespace lanyard
