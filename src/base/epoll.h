// Sleeping on an epoll descriptor with a limit in nanoseconds, also on kernels and in containers that know milliseconds only.
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <span>

namespace lanyard {

bool epoll_add(int epoll, int descriptor, uint32_t events);
bool epoll_change(int epoll, int descriptor, uint32_t events);
bool epoll_remove(int epoll, int descriptor);

// Sleeps until one of the descriptors is ready or limit_ns is over (no_limit: none; 0: it only looks). The number of events, or -1
// when a signal came between. Limits of less than a millisecond last up to one where the kernel knows no shorter ones.
int epoll_sleep(int epoll, std::span<epoll_event> events, uint64_t limit_ns);

}  // namespace lanyard
