// A Caller is one end of a connection over simulated sockets. The test controls it, and lets it send
// greetings and bytes of any kind to a process of a job.
// Thread rule: one thread. `turn` lets the job's processes make progress.
#pragma once

#include <functional>
#include <string>

#include "path/sim/sim_sockets.h"
#include "path/tcp/greeting.h"

namespace lanyard::fuzz {

class Caller {
public:
    Caller(sim::SimSockets &sockets, std::function<void()> turn)
        : sockets_(sockets), turn_(std::move(turn)) {}
    ~Caller() { close(); }
    Caller(const Caller &) = delete;
    Caller &operator=(const Caller &) = delete;

    void dial(const Address &to) {
        close();
        socket_ = sockets_.connect(to);
        for (int i = 0; i < most_turns && sockets_.connect_result(socket_) == -EINPROGRESS; ++i) turn_();
    }
    // Accepts a connection of a listener. False if no process has called.
    bool accept(int listener) {
        close();
        socket_ = sockets_.accept(listener);
        return is_open();
    }
    void close() {
        if (socket_ >= 0) sockets_.close(socket_);
        socket_ = -1;
    }
    bool is_open() const { return socket_ >= 0; }
    // Returns false if the other side accepts no more bytes.
    bool say(const void *data, size_t bytes) {
        auto *from = static_cast<char *>(const_cast<void *>(data));
        for (size_t said = 0, idle = 0; said < bytes;) {
            if (socket_ < 0 || idle > most_turns) return false;
            iovec rest{from + said, bytes - said};
            ssize_t some = sockets_.write(socket_, &rest, 1);
            if (some < 0 && some != -EAGAIN) return false;
            if (some > 0) said += static_cast<size_t>(some);
            else ++idle;
            turn_();
        }
        return true;
    }
    // Waits for `bytes` bytes, for at most `turns` turns. Returns how many arrived.
    size_t hear(void *place, size_t bytes, int turns = most_turns) {
        size_t heard = 0;
        for (int i = 0; i < turns && heard < bytes && socket_ >= 0; ++i) {
            iovec rest{static_cast<char *>(place) + heard, bytes - heard};
            ssize_t some = sockets_.read(socket_, &rest, 1);
            if (some == 0 || (some < 0 && some != -EAGAIN)) close();
            else if (some > 0) heard += static_cast<size_t>(some);
            turn_();
        }
        return heard;
    }
    bool hear(Greeting &greeting) { return hear(&greeting, sizeof greeting) == sizeof greeting; }

private:
    static constexpr int most_turns = 20'000;

    sim::SimSockets &sockets_;
    std::function<void()> turn_;
    int socket_ = -1;
};

}  // namespace lanyard::fuzz
