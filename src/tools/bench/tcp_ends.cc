// How the two ends of bench-tcp find each other; see tcp.h. The first starts the second over a pipe, on this host or
// through a remote shell, reads the port that it chose, and connects; the second ends with the connection.
#include <array>
#include <cstdio>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/bench/raw_socket.h"
#include "tools/bench/tcp.h"

namespace lanyard::bench {

namespace {

constexpr unsigned give_up_after_seconds = 20;

std::string own_path() {
    std::array<char, 4096> path{};
    if (readlink("/proc/self/exe", path.data(), path.size() - 1) < 0) throw_errno("readlink of /proc/self/exe");
    return path.data();
}

sockaddr_in parse_address(const std::string& address, int port) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(static_cast<std::uint16_t>(port));
    if (inet_pton(AF_INET, address.c_str(), &where.sin_addr) != 1)
        throw std::runtime_error("'" + address + "' is not an IPv4 address, such as 127.0.0.1");
    return where;
}

std::string command_of_other_end(const Ends& ends, bool pin) {
    return (ends.shell.empty() ? "exec " : ends.shell + " ") + own_path() + " serve " + ends.address + (pin ? " --pin" : "");
}

}  // namespace

OtherEnd::OtherEnd(const Ends& ends, bool pin) {
    parse_address(ends.address, 0);
    std::string command = command_of_other_end(ends, pin);
    pipe_ = popen(command.c_str(), "re");
    if (!pipe_) throw_errno("popen");
    int port = 0;
    if (std::fscanf(pipe_, "%d", &port) != 1) throw std::runtime_error("the other end did not start: " + command);
    sockaddr_in where = parse_address(ends.address, port);
    connection_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(connection_, reinterpret_cast<sockaddr*>(&where), sizeof where) != 0) throw_errno("connect");
    without_delay(connection_);
}

OtherEnd::~OtherEnd() {
    close(connection_);
    pclose(pipe_);
}

void serve_at(const std::string& address) {
    sockaddr_in where = parse_address(address, 0);
    auto name = reinterpret_cast<sockaddr*>(&where);
    socklen_t length = sizeof where;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, name, length) != 0 || listen(listener, 1) != 0) throw_errno("bind to the address");
    getsockname(listener, name, &length);
    std::printf("%d\n", ntohs(where.sin_port));
    std::fflush(stdout);
    alarm(give_up_after_seconds);
    int connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) throw_errno("accept");
    alarm(0);
    close(listener);
    without_delay(connection);
    serve_orders(connection);
}

}  // namespace lanyard::bench
