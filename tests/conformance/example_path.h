// The smallest complete path: one sequenced-packet socket pair between any two peers, one packet a frame. It shows what
// path.h asks for; a real path adds speed, not duties. Start here when adding a path (CONTRIBUTING.md).
//
//   packet:  FrameHeader | payload
//
// Thread rule: all functions by one thread. Invariant: a packet is taken by the kernel whole or not at all.
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
    // sockets[i] leads to peer i, -1: it does not reach that one.
    explicit ExamplePath(std::vector<int> sockets)
        : Path({.name = "example", .max_eager = most_payload, .max_bulk = most_payload, .descriptor = epoll_create1(EPOLL_CLOEXEC)}),
          sockets_(std::move(sockets)), dead_(sockets_.size()), packet_(largest), epoll_(info.descriptor) {
        for (uint32_t peer = 0; peer < sockets_.size(); ++peer) {
            epoll_event event{.events = EPOLLIN, .data = {.u32 = peer}};
            if (sockets_[peer] >= 0) epoll_ctl(epoll_, EPOLL_CTL_ADD, sockets_[peer], &event);
        }
    }
    ~ExamplePath() override { close(); }

    bool reaches(uint32_t peer) const override { return peer < sockets_.size() && sockets_[peer] >= 0; }
    std::string describe() const override { return "example: socket pairs to " + std::to_string(sockets_.size()) + " peers"; }

    Sent send(uint32_t peer, const Envelope &envelope, Payload payload) override { return put(peer, {false, {}, envelope}, payload); }
    Sent send_bulk(uint32_t peer, const BulkHeader &header, Payload payload, uint64_t) override {
        return put(peer, {true, header, {}}, payload);  // copied by the kernel, so never `pending`
    }

    int poll(Sink &sink, int budget, uint64_t) override {
        int delivered = 0;
        // Begins where the last one ended, so that no peer is kept waiting by another.
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
        // On `full` nothing may have been taken, the cursor not moved either.
        Cursor before = payload.cursor ? *payload.cursor : Cursor();
        size_t size = payload.size;
        std::memcpy(packet_.data(), &header, sizeof header);
        payload.copy(packet_.data() + sizeof header, size);
        if (::send(sockets_[peer], packet_.data(), sizeof header + size, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return Sent::done;
        if (errno != EAGAIN && errno != EWOULDBLOCK && errno != ENOBUFS) return Sent::done;  // dead: poll will find out and say so
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
        // The handler may send, which uses packet_ again.
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
