// Implements Sockets by the kernel's TCP sockets. One epoll set watches all of them. Thread rule: as Sockets.
// Tested by: tests/unit/net/system_sockets_test.cc, tests/conformance/conformance_test.cc.
// Tested by: tests/failures/test_network.py.
#pragma once

#include <sys/epoll.h>
#include <sys/types.h>

#include "net/sockets.h"

namespace lanyard {

class SystemSockets final : public Sockets {
public:
    // `buffer` is the size in bytes of each socket's send buffer and receive buffer; 0 leaves both to the
    // kernel's own tuning. If the other host of a connection is silent for about `patience_s` seconds, the
    // kernel breaks the connection, even if nothing is being sent. If the kernel gives no epoll set,
    // descriptor() is negative, and errno has the reason right after the constructor.
    explicit SystemSockets(int buffer = 0, int patience_s = 60);
    ~SystemSockets() override;
    SystemSockets(const SystemSockets &) = delete;
    SystemSockets &operator=(const SystemSockets &) = delete;

    int listen(const Address &at) override;
    Address bound(int socket) override;
    int accept(int listener) override;
    int connect(const Address &to) override;
    int connect_result(int socket) override;
    ssize_t read(int socket, const iovec *parts, int count) override;
    ssize_t write(int socket, const iovec *parts, int count) override;
    void close(int socket) override;
    bool has_unread(int socket) override;
    uint64_t silence_ns(int socket) override;
    Address other_end(int socket) override;
    Delivery delivery(int socket) override;
    void watch(int socket, uint64_t token, bool writable) override;
    void unwatch(int socket) override { epoll_ctl(epoll_, EPOLL_CTL_DEL, socket, nullptr); }
    void wake_at(int socket, size_t bytes) override;
    int ready(Ready *list, int most) override;
    int descriptor() const override { return epoll_; }
    uint64_t now_ns() override;
    uint64_t random() override;

private:
    int open(const Address &like);
    void tune(int socket) const;
    void tune_connected(int socket, const Address &other_end);

    int epoll_;
    int buffer_;
    int patience_s_;
    const pid_t process_;  // the process that made this object, not a child of fork()
};

}  // namespace lanyard
