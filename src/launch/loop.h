// The event loop is where mpirun waits while a job runs. It waits for descriptors, each of which has a
// handler, and for at most a given time. Single-threaded. A handler may add and remove descriptors, including
// its own. Events of a removed descriptor are dropped. But if a handler adds a new descriptor with the same
// number, the new handler may be called for such an event. So a handler must not rely on its descriptor being
// ready.
// Tested by: tests/unit/launch/pmi_tree_test.cc, tests/launch/test_endings.py.
#pragma once

#include <sys/epoll.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>

#include "base/clock.h"
#include "base/epoll.h"

namespace lanyard::launch {

class Loop {
public:
    using Handler = std::function<void(uint32_t events)>;

    Loop() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {}
    ~Loop() { close(epoll_); }
    Loop(const Loop &) = delete;
    Loop &operator=(const Loop &) = delete;

    // Lets the loop wait for a descriptor. Returns false if the system refuses. For regular files the system
    // refuses, and waiting is not necessary, because they are always ready.
    bool add(int fd, uint32_t events, Handler handler) {
        epoll_event event{};
        event.events = events;
        event.data.fd = fd;
        if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) return false;
        handlers_[fd] = std::make_shared<Handler>(std::move(handler));
        return true;
    }
    void change(int fd, uint32_t events) {
        epoll_event event{};
        event.events = events;
        event.data.fd = fd;
        epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event);
    }
    void remove(int fd) {
        if (handlers_.erase(fd)) epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
    }
    // Waits for events for up to timeout_ms (-1: without limit) and handles them.
    void wait(int timeout_ms) {
        epoll_event events[64];
        int count = epoll_sleep(epoll_, events,
                                timeout_ms < 0 ? no_limit : static_cast<uint64_t>(timeout_ms) * 1'000'000);
        for (int i = 0; i < count; ++i) {
            auto entry = handlers_.find(events[i].data.fd);
            if (entry == handlers_.end()) continue;
            std::shared_ptr<Handler> handler = entry->second;  // keeps the handler alive if it removes itself
            (*handler)(events[i].events);
        }
    }

private:
    int epoll_;
    std::unordered_map<int, std::shared_ptr<Handler>> handlers_;
};

}  // namespace lanyard::launch
