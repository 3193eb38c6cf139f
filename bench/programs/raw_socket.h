// Sends and receives bytes over a TCP socket without a library, for bench-limits, bench-tcp and bench-udp.
// Failures are thrown as std::system_error. The end of the stream is thrown as std::runtime_error. Any thread
// may call these functions, but only one thread at a time for each direction of a socket.
#pragma once

#include <cstddef>
#include <string>

#include <netinet/in.h>

namespace lanyard::bench {

[[noreturn]] void throw_errno(const char* what);

// These functions poll without blocking until all bytes are sent or received, as a library that polls does.
void receive_all(int socket_fd, char* to, std::size_t bytes);
void send_all(int socket_fd, const char* from, std::size_t bytes);

// These functions return at once with the number of bytes that could be sent or received: 0 if none.
std::size_t receive_some(int socket_fd, char* to, std::size_t bytes);
std::size_t send_some(int socket_fd, const char* from, std::size_t bytes);

// These functions block until all bytes are sent or received.
void receive_asleep(int socket_fd, char* to, std::size_t bytes);
void send_asleep(int socket_fd, const char* from, std::size_t bytes);

// Create the two ends of a connection without Nagle's algorithm. `address` is an IPv4 address. If the port is
// 0, listen_at() replaces it by the port that the system has chosen.
sockaddr_in parse_address(const std::string& address, int port = 0);
int listen_at(sockaddr_in& where);
int accept_one(int listener);
int connect_to(const sockaddr_in& where);

}  // namespace lanyard::bench
