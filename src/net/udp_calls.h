// The files of UdpPackets make their system calls for UDP sockets by these functions. They do not use the C
// library's functions for sending and receiving, because those are cancellation points.
// Tested by: tests/unit/net/udp_packets_test.cc, tests/failures/test_refused_calls.py.
#pragma once

#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

namespace lanyard {

constexpr size_t most_udp_payload = 65'507;

// Makes a system call, and repeats it if a signal has interrupted it. Returns the call's result, at least 0,
// or -errno.
template <class... Arguments>
int system_call(long number, Arguments... arguments) {
    for (;;) {
        long result = syscall(number, arguments...);
        if (result >= 0 || errno != EINTR) return static_cast<int>(result >= 0 ? result : -errno);
    }
}

inline void set_option(int socket, int level, int option, int value) {
    setsockopt(socket, level, option, &value, sizeof value);
}

}  // namespace lanyard
