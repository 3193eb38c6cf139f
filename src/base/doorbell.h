// A doorbell is a descriptor by which other processes of the node wake this process while it sleeps in epoll,
// where a futex cannot wake it. The descriptor is a datagram socket with a name of its own. Another process
// rings it by sending one byte; several rings count as one.
#pragma once

#include <cstdint>

namespace lanyard {

class Doorbell {
public:
    Doorbell();
    ~Doorbell();
    Doorbell(const Doorbell &) = delete;
    Doorbell &operator=(const Doorbell &) = delete;

    // A descriptor that becomes readable when the bell rings; -1 if the system provided no socket (errno has
    // the reason right after the constructor).
    int descriptor() const { return socket_; }
    uint64_t name() const { return name_; }
    // Discards all rings so far.
    void quieten();

private:
    int socket_;
    uint64_t name_ = 0;
};

// Rings the doorbell with this name, whichever process has it. Any thread. The ring is lost without notice if
// that process is in another network namespace, or if the system refuses this process a socket at this time.
void ring_doorbell(uint64_t name);

}  // namespace lanyard
