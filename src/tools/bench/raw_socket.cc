// See raw_socket.h.
#include "tools/bench/raw_socket.h"

#include <cerrno>
#include <stdexcept>
#include <system_error>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace lanyard::bench {

namespace {

std::size_t receive_once(int socket_fd, char* to, std::size_t bytes, int flags) {
    ssize_t got = recv(socket_fd, to, bytes, flags);
    if (got == 0) throw std::runtime_error("the other process closed its connection");
    if (got < 0 && errno != EAGAIN && errno != EINTR) throw_errno("recv");
    return got < 0 ? 0 : static_cast<std::size_t>(got);
}

std::size_t send_once(int socket_fd, const char* from, std::size_t bytes, int flags) {
    ssize_t put = send(socket_fd, from, bytes, flags | MSG_NOSIGNAL);
    if (put < 0 && errno != EAGAIN && errno != EINTR) throw_errno("send");
    return put < 0 ? 0 : static_cast<std::size_t>(put);
}

}  // namespace

void throw_errno(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

void receive_all(int socket_fd, char* to, std::size_t bytes) {
    for (std::size_t done = 0; done < bytes;) done += receive_once(socket_fd, to + done, bytes - done, MSG_DONTWAIT);
}

void send_all(int socket_fd, const char* from, std::size_t bytes) {
    for (std::size_t done = 0; done < bytes;) done += send_once(socket_fd, from + done, bytes - done, MSG_DONTWAIT);
}

std::size_t receive_some(int socket_fd, char* to, std::size_t bytes) {
    return receive_once(socket_fd, to, bytes, MSG_DONTWAIT);
}

std::size_t send_some(int socket_fd, const char* from, std::size_t bytes) {
    return send_once(socket_fd, from, bytes, MSG_DONTWAIT);
}

void receive_asleep(int socket_fd, char* to, std::size_t bytes) {
    for (std::size_t done = 0; done < bytes;) done += receive_once(socket_fd, to + done, bytes - done, 0);
}

void send_asleep(int socket_fd, const char* from, std::size_t bytes) {
    for (std::size_t done = 0; done < bytes;) done += send_once(socket_fd, from + done, bytes - done, 0);
}

void without_delay(int socket_fd) {
    int on = 1;
    setsockopt(socket_fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace lanyard::bench
