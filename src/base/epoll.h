// Sleeps on an epoll descriptor with a limit in nanoseconds. This also works on kernels and in containers
// that support only milliseconds. Any thread.
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <span>

namespace lanyard {

bool epoll_add(int epoll, int descriptor, uint32_t events);
bool epoll_change(int epoll, int descriptor, uint32_t events);
bool epoll_remove(int epoll, int descriptor);

// Sleeps until one of the descriptors is ready or limit_ns has passed (no_limit: no limit; 0: does not
// sleep). Returns the number of events, or -1 if a signal interrupted the sleep or the system refuses all
// calls for it. If the descriptor `epoll` has been closed, the process ends with a message. Where the kernel
// supports only milliseconds, the limit is rounded up to whole milliseconds. `events` must not be empty.
int epoll_sleep(int epoll, std::span<epoll_event> events, uint64_t limit_ns);

}  // namespace lanyard
