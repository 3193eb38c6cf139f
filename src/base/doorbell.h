// A descriptor by which other processes of the node wake this one while it sleeps in epoll, where a futex
// cannot wake it. It is a datagram socket with a name of its own. A process rings it by sending one byte;
// several rings count as one.
#pragma once

#include <cstdint>

namespace lanyard {

class Doorbell {
public:
    Doorbell();
    ~Doorbell();
    Doorbell(const Doorbell &) = delete;
    Doorbell &operator=(const Doorbell &) = delete;

    // Becomes readable when the bell rings; -1 if the system provided no socket.
    int descriptor() const { return socket_; }
    uint64_t name() const { return name_; }
    // Discards all rings until now.
    void quieten();

private:
    int socket_;
    uint64_t name_ = 0;
};

// Rings the doorbell with that name, in any process. Any thread.
void ring_doorbell(uint64_t name);

}  // namespace lanyard
