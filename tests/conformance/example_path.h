// ExamplePath is the smallest complete path. It has a pair of sequenced-packet sockets between any two peers,
// and sends one packet for each frame. It shows everything that path.h requires. A real path is faster, but
// has no further duties. Start here when you add a path (CONTRIBUTING.md).
//
//   packet:  FrameHeader | payload
//
// Thread rule: all functions are called by one thread. Invariant: the kernel accepts a packet as a whole or
// not at all.
#pragma once

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "path/path.h"

namespace lanyard::conformance {

class ExamplePath final : public Path {
public:
    // sockets[i] leads to peer i; -1 if the path does not reach that peer.
    explicit ExamplePath(std::vector<int> sockets)
        : Path({.name = "example",
                .max_eager = most_payload,
                .max_bulk = most_payload,
                .descriptor = epoll_create1(EPOLL_CLOEXEC)}),
          sockets_(std::move(sockets)),
          dead_(sockets_.size()),
          packet_(largest),
          epoll_(info.descriptor) {
        for (uint32_t peer = 0; peer < sockets_.size(); ++peer) {
            epoll_event event{.events = EPOLLIN, .data = {.u32 = peer}};
            if (sockets_[peer] >= 0) epoll_ctl(epoll_, EPOLL_CTL_ADD, sockets_[peer], &event);
        }
    }
    ~ExamplePath() override { close(); }

    bool reaches(uint32_t peer) const override { return peer < sockets_.size() && sockets_[peer] >= 0; }
    std::string describe() const override {
        return "example: socket pairs to " + std::to_string(sockets_.size()) + " peers";
    }

    Sent send(uint32_t peer, const Envelope &envelope, Payload payload) override {
        return put(peer, {false, {}, envelope}, payload);
    }
    Sent send_bulk(uint32_t peer, const BulkHeader &header, Payload payload, uint64_t) override {
        // the kernel copies the payload, so the result is never `pending`
        return put(peer, {true, header, {}}, payload);
    }

    int poll(Sink &sink, int budget, uint64_t) override {
        int delivered = 0;
        // Begins with the peer after the one that was polled last, so that a busy peer does not keep the
        // other peers waiting.
        for (size_t turn = 0; turn < sockets_.size() && delivered < budget; ++turn) {
            next_ = (next_ + 1) % sockets_.size();
            while (delivered < budget && receive(static_cast<uint32_t>(next_), sink)) ++delivered;
        }
        return delivered;
    }

    void close() {
        for (int &socket : sockets_) {
            if (socket >= 0) ::close(socket);
            socket = -1;
        }
        if (epoll_ >= 0) ::close(epoll_);
        epoll_ = -1;
    }

private:
    struct FrameHeader {
        bool bulk;
        BulkHeader header;
        Envelope envelope;
    };
    static constexpr size_t most_payload = 8192, largest = sizeof(FrameHeader) + most_payload;

    Sent put(uint32_t peer, const FrameHeader &header, Payload &payload) {
        if (dead_[peer]) return Sent::done;
        // A call that returns `full` must not take any payload and must leave the cursor where it
        // was.
        Cursor before = payload.cursor ? *payload.cursor : Cursor();
        size_t size = payload.size;
        std::memcpy(packet_.data(), &header, sizeof header);
        payload.copy(packet_.data() + sizeof header, size);
        if (::send(sockets_[peer], packet_.data(), sizeof header + size, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
            return Sent::done;
        // Any other error means that the peer is dead. poll() will notice and report this.
        if (errno != EAGAIN && errno != EWOULDBLOCK && errno != ENOBUFS) return Sent::done;
        if (payload.cursor) *payload.cursor = before;
        return Sent::full;
    }

    bool receive(uint32_t peer, Sink &sink) {
        if (sockets_[peer] < 0 || dead_[peer]) return false;
        ssize_t got = recv(sockets_[peer], packet_.data(), largest, MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
        if (got <= 0) {
            dead_[peer] = true;
            sink.lost(peer, Error(ErrorClass::proc_aborted, "the other end of the socket pair is closed"));
            return true;
        }
        FrameHeader header;
        std::memcpy(&header, packet_.data(), sizeof header);
        // Copies the payload, because the handler may send, and sending overwrites packet_.
        std::vector<std::byte> payload(packet_.begin() + sizeof header, packet_.begin() + got);
        if (header.bulk) sink.bulk(peer, header.header, payload.data(), payload.size());
        else sink.envelope(peer, header.envelope, payload.data(), payload.size());
        return true;
    }

    std::vector<int> sockets_;
    std::vector<bool> dead_;
    std::vector<std::byte> packet_;
    int epoll_;
    size_t next_ = 0;
};

}  // namespace lanyard::conformance
