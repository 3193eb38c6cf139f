// A descriptor by which other processes of the node wake this one while it sleeps in epoll, since there a futex does not help: a
// datagram socket with a name of its own. Who rings sends it one byte; several rings are one.
#pragma once

#include <cstdint>

namespace lanyard {

class Doorbell {
public:
    Doorbell();
    ~Doorbell();
    Doorbell(const Doorbell &) = delete;
    Doorbell &operator=(const Doorbell &) = delete;

    // Becomes readable when somebody rings; -1 when the system gave none.
    int descriptor() const { return socket_; }
    uint64_t name() const { return name_; }
    // Forgets all rings until now.
    void quieten();

private:
    int socket_;
    uint64_t name_ = 0;
};

// Rings the doorbell of that name, whosever it is. Any thread.
void ring_doorbell(uint64_t name);

}  // namespace lanyard
