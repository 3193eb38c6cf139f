// Bytes over a TCP socket without a library, for bench-limits and bench-tcp. Failures are thrown as std::system_error, the
// end of the stream as std::runtime_error. Any thread; one at a time for each direction of a socket.
#pragma once

#include <cstddef>
#include <string>

#include <netinet/in.h>

namespace lanyard::bench {

[[noreturn]] void throw_errno(const char* what);

// Asking again and again, as a library that polls does.
void receive_all(int socket_fd, char* to, std::size_t bytes);
void send_all(int socket_fd, const char* from, std::size_t bytes);

// What passes at once, without waiting: 0 where nothing does.
std::size_t receive_some(int socket_fd, char* to, std::size_t bytes);
std::size_t send_some(int socket_fd, const char* from, std::size_t bytes);

// Asleep until all of it has passed.
void receive_asleep(int socket_fd, char* to, std::size_t bytes);
void send_asleep(int socket_fd, const char* from, std::size_t bytes);

// The two ends of a connection on which nothing small is held back. `address` is IPv4; listen_at() fills in the port where it is 0.
sockaddr_in parse_address(const std::string& address, int port = 0);
int listen_at(sockaddr_in& where);
int accept_one(int listener);
int connect_to(const sockaddr_in& where);

}  // namespace lanyard::bench
