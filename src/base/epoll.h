// Sleeping on an epoll descriptor with a limit in nanoseconds, also on kernels and in containers that support
// only milliseconds. Any thread.
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <span>

namespace lanyard {

bool epoll_add(int epoll, int descriptor, uint32_t events);
bool epoll_change(int epoll, int descriptor, uint32_t events);
bool epoll_remove(int epoll, int descriptor);

// Sleeps until one of the descriptors is ready or limit_ns has passed (no_limit: no limit; 0: does not
// sleep). Returns the number of events, or -1 if a signal interrupted it. Limits below a millisecond may last
// up to one millisecond where the kernel supports no shorter ones.
int epoll_sleep(int epoll, std::span<epoll_event> events, uint64_t limit_ns);

}  // namespace lanyard
