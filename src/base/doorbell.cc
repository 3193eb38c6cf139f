// See doorbell.h.
#include "base/doorbell.h"

#include <errno.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>

#include "base/clock.h"

namespace lanyard {

namespace {

// The socket's address for a doorbell's name. It is an abstract address, which leaves no file behind.
socklen_t address_of(uint64_t name, sockaddr_un &address) {
    address = {};
    address.sun_family = AF_UNIX;
    int length = std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "lanyard-bell-%016llx",
                               static_cast<unsigned long long>(name));
    return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<size_t>(length));
}

int open_socket() { return socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }

// The socket by which this process rings. It is opened as soon as the system provides one, and stays open
// until the process ends. -1 if the system provides none now.
int own_sender() {
    static std::atomic<int> kept{-1};
    int sender = kept.load(std::memory_order_relaxed);
    if (sender >= 0) return sender;
    int opened = open_socket();
    if (opened < 0 || kept.compare_exchange_strong(sender, opened)) return opened;
    close(opened);  // another thread was faster
    return sender;
}

// False with errno set if the ring cannot be sent.
bool ring(int sender, uint64_t name) {
    sockaddr_un address;
    socklen_t length = address_of(name, address);
    char byte = 0;
    return sendto(sender, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL, reinterpret_cast<sockaddr *>(&address),
                  length) == 1;
}

}  // namespace

Doorbell::Doorbell() : socket_(open_socket()) {
    if (socket_ < 0) return;
    if (getrandom(&name_, sizeof name_, 0) != sizeof name_)
        name_ = clock_ns() ^ static_cast<uint64_t>(getpid()) << 40;
    sockaddr_un address;
    socklen_t length = address_of(name_, address);
    if (bind(socket_, reinterpret_cast<sockaddr *>(&address), length) == 0) return;
    close(socket_);
    socket_ = -1;
}

Doorbell::~Doorbell() {
    if (socket_ >= 0) close(socket_);
}

void Doorbell::quieten() {
    char byte;
    while (recv(socket_, &byte, 1, MSG_DONTWAIT) >= 0) {
    }
}

void ring_doorbell(uint64_t name) {
    if (ring(own_sender(), name) || errno != EAGAIN) return;
    // Either the bell has rung so often that its queue is full, or rings that other processes have not read
    // fill the sender's buffer. A new socket has an empty buffer.
    int other = open_socket();
    ring(other, name);
    if (other >= 0) close(other);
}

}  // namespace lanyard
