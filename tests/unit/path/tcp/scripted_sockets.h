// Simulates sockets that do what the test says. Bytes to be read lie in a list of portions. Written bytes are
// kept, as many as there is room for.
#pragma once

#include <errno.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "net/sockets.h"

namespace lanyard {

using Bytes = std::vector<std::byte>;

class ScriptedSockets final : public Sockets {
public:
    struct Socket {
        std::deque<Bytes> to_read;  // a read takes bytes of one portion only
        bool ended = false;         // the stream ends after these bytes
        Bytes written;
        size_t room = SIZE_MAX;
        size_t most_at_once = SIZE_MAX;
        int error = 0;              // of write()
        bool watched = false, for_room = false, closed = false;
        size_t wake_at = 1;
    };

    int listen(const Address &) override { return listens; }
    Address bound(int) override { return {}; }
    int accept(int) override { return std::exchange(accepts, -EAGAIN); }
    int connect(const Address &) override {
        ++dialed;
        return connects;
    }
    int connect_result(int) override { return connected; }
    ssize_t read(int socket, const iovec *parts, int count) override {
        Socket &from = sockets[socket];
        ++reads;
        if (from.to_read.empty()) return from.ended ? 0 : -EAGAIN;
        Bytes &portion = from.to_read.front();
        size_t bytes = 0;
        for (int i = 0; i < count; ++i) {
            size_t part = std::min(parts[i].iov_len, portion.size() - bytes);
            if (part) std::memcpy(parts[i].iov_base, portion.data() + bytes, part);
            bytes += part;
        }
        portion.erase(portion.begin(), portion.begin() + static_cast<std::ptrdiff_t>(bytes));
        if (portion.empty()) from.to_read.pop_front();
        return static_cast<ssize_t>(bytes);
    }
    ssize_t write(int socket, const iovec *parts, int count) override {
        Socket &to = sockets[socket];
        if (to.error) return -to.error;
        size_t left = std::min(to.room, to.most_at_once), bytes = 0;
        if (left == 0) return -EAGAIN;
        for (int i = 0; i < count; ++i) {
            size_t part = std::min(parts[i].iov_len, left - bytes);
            auto *from = static_cast<const std::byte *>(parts[i].iov_base);
            to.written.insert(to.written.end(), from, from + part);
            bytes += part;
        }
        to.room -= to.room == SIZE_MAX ? 0 : bytes;
        return static_cast<ssize_t>(bytes);
    }
    void close(int socket) override { sockets[socket].closed = true; }
    bool has_unread(int socket) override {
        return !sockets[socket].to_read.empty() || sockets[socket].ended;
    }
    uint64_t silence_ns(int) override { return silent_ns; }
    Address other_end(int) override { return {}; }
    Delivery delivery(int) override { return {}; }
    void watch(int socket, uint64_t, bool writable) override {
        sockets[socket].watched = true;
        sockets[socket].for_room = writable;
    }
    void unwatch(int socket) override { sockets[socket].watched = false; }
    void wake_at(int socket, size_t bytes) override { sockets[socket].wake_at = bytes; }
    int ready(Ready *, int) override { return 0; }
    int descriptor() const override { return -1; }
    uint64_t now_ns() override { return time_ns; }
    uint64_t random() override { return ++drawn; }

    std::map<int, Socket> sockets;
    // The results of listen(), accept(), connect() and connect_result().
    int listens = -EADDRINUSE, accepts = -EAGAIN, connects = -EHOSTUNREACH, connected = -EINPROGRESS;
    uint64_t time_ns = 1'000'000'000, silent_ns = 0, drawn = 0;
    int dialed = 0, reads = 0;
};

}  // namespace lanyard
