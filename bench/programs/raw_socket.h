// Bytes over a TCP socket without a library, for bench-limits, bench-tcp and bench-udp. Failures are thrown
// as std::system_error, the end of the stream as std::runtime_error. Any thread, but only one at a time for
// each direction of a socket.
#pragma once

#include <cstddef>
#include <string>

#include <netinet/in.h>

namespace lanyard::bench {

[[noreturn]] void throw_errno(const char* what);

// These poll without blocking until all bytes have passed, as a library that polls does.
void receive_all(int socket_fd, char* to, std::size_t bytes);
void send_all(int socket_fd, const char* from, std::size_t bytes);

// These return how many bytes pass at once, without waiting: 0 if none do.
std::size_t receive_some(int socket_fd, char* to, std::size_t bytes);
std::size_t send_some(int socket_fd, const char* from, std::size_t bytes);

// These block until all bytes have passed.
void receive_asleep(int socket_fd, char* to, std::size_t bytes);
void send_asleep(int socket_fd, const char* from, std::size_t bytes);

// The two ends of a connection without Nagle's algorithm. `address` is an IPv4 address. listen_at() replaces
// port 0 by the port that it received.
sockaddr_in parse_address(const std::string& address, int port = 0);
int listen_at(sockaddr_in& where);
int accept_one(int listener);
int connect_to(const sockaddr_in& where);

}  // namespace lanyard::bench
