// See epoll.h.
#include "base/epoll.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "base/clock.h"
#include "base/refusal.h"
#include "base/valgrind.h"

namespace lanyard {

namespace {

bool control(int epoll, int how, int descriptor, uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.fd = descriptor;
    return epoll_ctl(epoll, how, descriptor, &event) == 0;
}

// Ends the process because the descriptor of the epoll set has been closed: nothing can arrive, so the
// process would wait for ever. If the program has also closed the connection to the launcher (pmi_client.cc),
// the launcher notices that, and has three seconds to report the closed connection and end the job first.
[[noreturn]] void end_without_descriptors() {
    constexpr char text[] =
        "Lanyard: this process has closed a descriptor of the MPI library and cannot go on; let the program "
        "close only descriptors that it has opened\n";
    [[maybe_unused]] ssize_t written = write(2, text, sizeof text - 1);
    sleep(3);
    _exit(1);
}

int milliseconds(uint64_t limit_ns) {
    if (limit_ns == no_limit) return -1;
    return static_cast<int>(std::min<uint64_t>(limit_ns / 1'000'000 + (limit_ns % 1'000'000 != 0), INT_MAX));
}

}  // namespace

bool epoll_add(int epoll, int descriptor, uint32_t events) {
    return control(epoll, EPOLL_CTL_ADD, descriptor, events);
}
bool epoll_change(int epoll, int descriptor, uint32_t events) {
    return control(epoll, EPOLL_CTL_MOD, descriptor, events);
}
bool epoll_remove(int epoll, int descriptor) { return control(epoll, EPOLL_CTL_DEL, descriptor, 0); }

int epoll_sleep(int epoll, std::span<epoll_event> events, uint64_t limit_ns) {
    timespec limit = to_timespec(limit_ns);
    auto most = static_cast<int>(events.size());
    // Valgrind before version 3.21 does not support epoll_pwait2 and prints a long message about the call.
    if (under_valgrind()) return epoll_wait(epoll, events.data(), most, milliseconds(limit_ns));
    int count = epoll_pwait2(epoll, events.data(), most, limit_ns == no_limit ? nullptr : &limit, nullptr);
    // Linux before 5.11 has no epoll_pwait2.
    if (count < 0 && may_be_refused(-errno))
        count = epoll_wait(epoll, events.data(), most, milliseconds(limit_ns));
    if (count < 0 && may_be_refused(-errno))
        count = epoll_pwait(epoll, events.data(), most, milliseconds(limit_ns), nullptr);
    if (count < 0 && (errno == EBADF || errno == EINVAL)) end_without_descriptors();
    return count;
}

}  // namespace lanyard
