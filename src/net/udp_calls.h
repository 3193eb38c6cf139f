// The system calls for UDP sockets, as the files of UdpPackets make them. They avoid the C library's
// functions, which are cancellation points.
#pragma once

#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

namespace lanyard {

constexpr size_t most_udp_payload = 65'507;

// Returns a number of at least 0, or -errno.
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
