// See socket_bell.h.
#include "engine/socket_bell.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/epoll.h"

namespace lanyard {

SocketBell::SocketBell(int sockets)
    : sockets_(sockets), set_(epoll_create1(EPOLL_CLOEXEC)), bell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    usable_ =
        set_ >= 0 && bell_ >= 0 && epoll_add(set_, sockets_, EPOLLONESHOT) && epoll_add(set_, bell_, EPOLLIN);
}

SocketBell::~SocketBell() {
    if (set_ >= 0) close(set_);
    if (bell_ >= 0) close(bell_);
}

void SocketBell::arm() { epoll_change(set_, sockets_, EPOLLIN | EPOLLONESHOT); }

void SocketBell::disarm() { epoll_change(set_, sockets_, EPOLLONESHOT); }

void SocketBell::ring() {
    uint64_t one = 1;
    if (write(bell_, &one, sizeof one) < 0) return;  // it has been rung already
}

bool SocketBell::wait(uint64_t limit_ns) {
    epoll_event events[2];
    int count = epoll_sleep(set_, events, limit_ns);
    bool something = false;
    for (int i = 0; i < count; ++i) {
        uint64_t rings;
        if (events[i].data.fd == sockets_) something = true;
        else if (read(bell_, &rings, sizeof rings) < 0) continue;
    }
    return something;
}

}  // namespace lanyard
