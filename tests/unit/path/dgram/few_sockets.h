// Simulates sockets that can only listen and dial, with results that the test chooses.
#pragma once

#include <errno.h>

#include <functional>
#include <vector>

#include "net/sockets.h"

namespace lanyard {

class FewSockets final : public Sockets {
public:
    int listen(const Address &at) override {
        Address chosen = at.with_port(at.port ? at.port : next_port++);
        if (is_taken(chosen)) return -EADDRINUSE;
        bound_.push_back(chosen);
        return static_cast<int>(bound_.size() - 1);
    }
    Address bound(int socket) override { return bound_[static_cast<size_t>(socket)]; }
    int accept(int) override { return -EAGAIN; }
    int connect(const Address &) override {
        ++dialed;
        return connects;
    }
    int connect_result(int) override { return connected(); }
    ssize_t read(int, const iovec *, int) override { return reads; }
    ssize_t write(int, const iovec *, int) override { return -EPIPE; }
    void close(int) override { ++closed; }
    Address other_end(int) override { return {}; }
    Delivery delivery(int) override { return {}; }
    void watch(int, uint64_t, bool) override {}
    void unwatch(int) override {}
    void wake_at(int, size_t) override {}
    int ready(Ready *, int) override { return 0; }
    int descriptor() const override { return -1; }
    uint64_t now_ns() override { return time_ns; }
    uint64_t random() override { return 1; }

    // Does another process listen at this address?
    std::function<bool(const Address &)> is_taken = [](const Address &) { return false; };
    uint16_t next_port = 1000;  // chosen if any port will do
    // The results of connect(), connect_result() and read().
    int connects = -ENETUNREACH;
    std::function<int()> connected = [] { return -EINPROGRESS; };
    ssize_t reads = -EAGAIN;
    uint64_t time_ns = 1'000'000'000;
    int dialed = 0, closed = 0;

private:
    std::vector<Address> bound_;
};

}  // namespace lanyard
