// Connects the two processes of bench-tcp and bench-udp; see tcp.h. The first process starts the second
// through a pipe, on this host or by a remote shell. It reads the port that the second has chosen, and
// connects. The second process exits when the connection ends.
#include <array>
#include <cstdio>
#include <stdexcept>

#include <unistd.h>

#include "bench/programs/raw_socket.h"
#include "bench/programs/tcp.h"

namespace lanyard::bench {

namespace {

constexpr unsigned give_up_after_seconds = 20;

std::string own_path() {
    std::array<char, 4096> path{};
    if (readlink("/proc/self/exe", path.data(), path.size() - 1) < 0)
        throw_errno("readlink of /proc/self/exe");
    return path.data();
}

std::string command_of_other_end(const Ends& ends, bool pin) {
    return (ends.shell.empty() ? "exec " : ends.shell + " ") + own_path() + " serve " + ends.address +
           (pin ? " --pin" : "");
}

}  // namespace

OtherEnd::OtherEnd(const Ends& ends, bool pin) {
    parse_address(ends.address);  // throws before anything is started
    std::string command = command_of_other_end(ends, pin);
    pipe_ = popen(command.c_str(), "re");
    if (!pipe_) throw_errno("popen");
    int port = 0;
    if (std::fscanf(pipe_, "%d", &port) != 1)
        throw std::runtime_error("the other end did not start: " + command);
    connection_ = connect_to(parse_address(ends.address, port));
}

OtherEnd::~OtherEnd() {
    close(connection_);
    pclose(pipe_);
}

void serve_at(const std::string& address) {
    sockaddr_in where = parse_address(address);
    int listener = listen_at(where);
    std::printf("%d\n", ntohs(where.sin_port));
    std::fflush(stdout);
    alarm(give_up_after_seconds);
    int connection = accept_one(listener);
    alarm(0);
    close(listener);
    serve_orders(connection);
}

}  // namespace lanyard::bench
