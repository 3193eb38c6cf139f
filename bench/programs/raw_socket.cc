// See raw_socket.h.
#include "bench/programs/raw_socket.h"

#include <cerrno>
#include <stdexcept>
#include <system_error>

#include <arpa/inet.h>
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

void without_delay(int socket_fd) {
    int on = 1;
    setsockopt(socket_fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

void throw_errno(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

void receive_all(int socket_fd, char* to, std::size_t bytes) {
    for (std::size_t done = 0; done < bytes;)
        done += receive_once(socket_fd, to + done, bytes - done, MSG_DONTWAIT);
}

void send_all(int socket_fd, const char* from, std::size_t bytes) {
    for (std::size_t done = 0; done < bytes;)
        done += send_once(socket_fd, from + done, bytes - done, MSG_DONTWAIT);
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

sockaddr_in parse_address(const std::string& address, int port) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(static_cast<std::uint16_t>(port));
    if (inet_pton(AF_INET, address.c_str(), &where.sin_addr) != 1)
        throw std::runtime_error("'" + address + "' is not an IPv4 address, such as 127.0.0.1");
    return where;
}

int listen_at(sockaddr_in& where) {
    auto name = reinterpret_cast<sockaddr*>(&where);
    socklen_t length = sizeof where;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, name, length) != 0 || listen(listener, 1) != 0) throw_errno("bind to the address");
    getsockname(listener, name, &length);
    return listener;
}

int accept_one(int listener) {
    int connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) throw_errno("accept");
    without_delay(connection);
    return connection;
}

int connect_to(const sockaddr_in& where) {
    int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(connection, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0)
        throw_errno("connect");
    without_delay(connection);
    return connection;
}

}  // namespace lanyard::bench
