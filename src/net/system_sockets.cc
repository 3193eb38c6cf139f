// See system_sockets.h.
#include "net/system_sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "base/clock.h"
#include "base/refusal.h"

namespace lanyard {

namespace {

constexpr int waiting_connections = 1024;  // the kernel lowers this number to its own limit
// A silent host is probed after first_question_s seconds, and then again every question_every_s seconds.
constexpr int first_question_s = 10, question_every_s = 5;
// While a network is interrupted, the kernel retransmits at least once in `longest_pause_ms`, if the kernel
// has the option `tcp_rto_max_ms` (Linux 6.15). Older kernels wait up to two minutes.
constexpr int tcp_rto_max_ms = 44, longest_pause_ms = 1000;
// A congestion control without pacing that every kernel has and every process may choose.
constexpr char unpaced_control[] = "reno";

// Makes a system call. It is used for the calls that are made for every message. The C library's functions
// for these calls are cancellation points, which cost some 30 ns each once there is a helper thread. Also, a
// thread that is cancelled in such a function would never release the engine. Returns the result, or -errno.
template <class... Arguments>
ssize_t socket_call(long number, Arguments... arguments) {
    ssize_t result = syscall(number, arguments...);
    return result >= 0 ? result : -errno;
}

// Does what accept4() does, by setting the flags after accept(). Used if a filter of system calls refuses
// accept4().
int accept_plainly(int listener) {
    int socket = accept(listener, nullptr, nullptr);
    if (socket >= 0) {
        fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK);
        fcntl(socket, F_SETFD, FD_CLOEXEC);
    }
    return socket;
}

void set(int socket, int level, int option, int value) {
    setsockopt(socket, level, option, &value, sizeof value);
}

}  // namespace

SystemSockets::SystemSockets(int buffer, int patience_s)
    : epoll_(epoll_create1(EPOLL_CLOEXEC)), buffer_(buffer), patience_s_(patience_s), process_(getpid()) {}

SystemSockets::~SystemSockets() {
    if (epoll_ >= 0) ::close(epoll_);
}

// Sets the options that every connection has.
void SystemSockets::tune(int socket) const {
    set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
    set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(socket, IPPROTO_TCP, TCP_KEEPIDLE, std::min(patience_s_, first_question_s));
    set(socket, IPPROTO_TCP, TCP_KEEPINTVL, std::min(patience_s_, question_every_s));
    set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, patience_s_ * 1000);
    set(socket, IPPROTO_TCP, tcp_rto_max_ms, longest_pause_ms);
}

// Replaces the congestion control BBR for a connection within this host. Called once the socket has an
// address. BBR paces what it sends with timers, to protect a network that is shared with other hosts. Within
// a host there is no such network, and the timers cost a third of the bandwidth.
void SystemSockets::tune_connected(int socket, const Address &other_end) {
    char control[16] = {};
    socklen_t length = sizeof control;
    if (!same_host(bound(socket), other_end)) return;
    if (getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, control, &length) != 0 ||
        std::string_view(control).substr(0, 3) != "bbr")
        return;
    setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, unpaced_control, sizeof unpaced_control - 1);
}

int SystemSockets::open(const Address &like) {
    int socket =
        ::socket(like.version == 6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (socket < 0) return -errno;
    // The buffers must be set before connecting, because the scale of TCP's window is agreed then.
    if (buffer_ > 0) {
        set(socket, SOL_SOCKET, SO_SNDBUF, buffer_);
        set(socket, SOL_SOCKET, SO_RCVBUF, buffer_);
    }
    return socket;
}

int SystemSockets::listen(const Address &at) {
    int socket = open(at);
    if (socket < 0) return socket;
    if (at.version == 6) set(socket, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    // Connections of an earlier job at the same port may still be in TIME-WAIT.
    if (at.port) set(socket, SOL_SOCKET, SO_REUSEADDR, 1);
    sockaddr_storage place;
    socklen_t length = to_system(at, place);
    if (bind(socket, reinterpret_cast<sockaddr *>(&place), length) == 0 &&
        ::listen(socket, waiting_connections) == 0 &&
        // bound() cannot report an error of getsockname(), so the call is tried here.
        getsockname(socket, reinterpret_cast<sockaddr *>(&place), &length) == 0)
        return socket;
    int trouble = -errno;
    ::close(socket);
    return trouble;
}

Address SystemSockets::bound(int socket) {
    sockaddr_storage place{};
    socklen_t length = sizeof place;
    getsockname(socket, reinterpret_cast<sockaddr *>(&place), &length);
    return from_system(place);
}

Address SystemSockets::other_end(int socket) {
    sockaddr_storage place{};
    socklen_t length = sizeof place;
    return getpeername(socket, reinterpret_cast<sockaddr *>(&place), &length) == 0 ? from_system(place)
                                                                                   : Address();
}

Sockets::Delivery SystemSockets::delivery(int socket) {
    tcp_info info{};  // a kernel older than the header leaves the last fields 0
    socklen_t length = sizeof info;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return {};
    return {info.tcpi_bytes_acked, info.tcpi_delivery_rate, info.tcpi_delivery_rate_app_limited != 0};
}

int SystemSockets::accept(int listener) {
    int socket = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket < 0 && may_be_refused(-errno)) socket = accept_plainly(listener);
    if (socket < 0) return -errno;
    tune(socket);
    tune_connected(socket, other_end(socket));
    return socket;
}

int SystemSockets::connect(const Address &to) {
    int socket = open(to);
    if (socket < 0) return socket;
    tune(socket);
    sockaddr_storage place;
    socklen_t length = to_system(to, place);
    if (::connect(socket, reinterpret_cast<sockaddr *>(&place), length) == 0 || errno == EINPROGRESS) {
        tune_connected(socket, to);
        return socket;
    }
    int trouble = -errno;
    ::close(socket);
    return trouble;
}

int SystemSockets::connect_result(int socket) {
    int trouble = 0;
    socklen_t length = sizeof trouble;
    if (getsockopt(socket, SOL_SOCKET, SO_ERROR, &trouble, &length) == 0 && trouble) return -trouble;
    sockaddr_storage place;
    length = sizeof place;
    if (getpeername(socket, reinterpret_cast<sockaddr *>(&place), &length) == 0) return 0;
    return errno == ENOTCONN ? -EINPROGRESS : -errno;
}

ssize_t SystemSockets::read(int socket, const iovec *parts, int count) {
    if (count == 1) {
        ssize_t got = socket_call(SYS_recvfrom, socket, parts->iov_base, parts->iov_len, MSG_DONTWAIT,
                                  nullptr, nullptr);
        if (!may_be_refused(got)) return got;
    }
    msghdr message{};
    message.msg_iov = const_cast<iovec *>(parts);
    message.msg_iovlen = static_cast<size_t>(count);
    return socket_call(SYS_recvmsg, socket, &message, MSG_DONTWAIT);
}

ssize_t SystemSockets::write(int socket, const iovec *parts, int count) {
    if (count == 1) {
        ssize_t sent = socket_call(SYS_sendto, socket, parts->iov_base, parts->iov_len,
                                   MSG_DONTWAIT | MSG_NOSIGNAL, nullptr, 0);
        if (!may_be_refused(sent)) return sent;
    }
    msghdr message{};
    message.msg_iov = const_cast<iovec *>(parts);
    message.msg_iovlen = static_cast<size_t>(count);
    return socket_call(SYS_sendmsg, socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

// If a child of fork() has a copy of the socket, ::close() alone neither ends the connection nor removes the
// socket from the epoll set. A child shares both with its parent, so it must not end them.
void SystemSockets::close(int socket) {
    if (getpid() == process_) {
        unwatch(socket);
        shutdown(socket, SHUT_RDWR);
    }
    ::close(socket);
}

bool SystemSockets::has_unread(int socket) {
    char byte;
    iovec place{&byte, sizeof byte};
    msghdr message{};
    message.msg_iov = &place;
    message.msg_iovlen = 1;
    return socket_call(SYS_recvmsg, socket, &message, MSG_PEEK | MSG_DONTWAIT) != -EAGAIN;
}

void SystemSockets::watch(int socket, uint64_t token, bool writable) {
    epoll_event event{};
    event.events = EPOLLIN | (writable ? static_cast<uint32_t>(EPOLLOUT) : 0u);
    event.data.u64 = token;
    if (epoll_ctl(epoll_, EPOLL_CTL_MOD, socket, &event) != 0)
        epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &event);
}

void SystemSockets::wake_at(int socket, size_t bytes) {
    set(socket, SOL_SOCKET, SO_RCVLOWAT, static_cast<int>(bytes));
}

int SystemSockets::ready(Ready *list, int most) {
    epoll_event events[64];
    auto count =
        static_cast<int>(socket_call(SYS_epoll_pwait, epoll_, events, std::min(most, 64), 0, nullptr, 0));
    if (may_be_refused(count)) count = epoll_wait(epoll_, events, std::min(most, 64), 0);
    for (int i = 0; i < count; ++i) {
        uint32_t what = events[i].events;
        // After an error or a hang-up, reading or writing the socket returns the error.
        list[i] = {events[i].data.u64, (what & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0,
                   (what & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0};
    }
    return std::max(count, 0);
}

uint64_t SystemSockets::silence_ns(int socket) {
    tcp_info info{};
    socklen_t length = sizeof info;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0 || info.tcpi_unacked == 0) return 0;
    return std::max(info.tcpi_last_ack_recv * uint64_t{1'000'000}, uint64_t{1});
}

uint64_t SystemSockets::now_ns() { return clock_ns(); }

uint64_t SystemSockets::random() {
    uint64_t value = 0;
    if (getrandom(&value, sizeof value, 0) != sizeof value) value = clock_ns();
    return value;
}

}  // namespace lanyard
