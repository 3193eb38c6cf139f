// Frames (protocol.h) over two descriptors, one to read and one to write, between mpirun and an agent or
// between two agents. Driven by the loop; single-threaded. Invariants: it never blocks. It keeps what is not
// written yet, which is little, since streams are governed by credit. A side that reads nothing while 64 MiB
// wait for it counts as failed. send() calls no handlers. The owner closes the link and outlives all
// handlers.
#pragma once

#include <functional>
#include <string>

#include "launch/loop.h"
#include "launch/protocol.h"

namespace lanyard::launch {

class FrameLink {
public:
    struct Handlers {
        std::function<void(const Frame &)> frame;
        std::function<void(const std::string &why)> lost;  // at most once; the link is closed by then
    };
    FrameLink(Loop &loop, uint64_t silence_ns, Handlers handlers)
        : loop_(loop), silence_ns_(silence_ns), handlers_(std::move(handlers)) {}
    ~FrameLink() { close(); }
    FrameLink(const FrameLink &) = delete;
    FrameLink &operator=(const FrameLink &) = delete;

    // Takes ownership of both descriptors. `received` are bytes that have already been read from `in`.
    // Returns false if the loop refuses a descriptor.
    bool open(int in, int out, std::string received);
    void send(const Frame &frame);
    void close();
    bool is_open() const { return in_ >= 0; }
    void set_silence(uint64_t silence_ns) { silence_ns_ = silence_ns; }
    // The other side is about to be stopped. Until it sends again, its silence means nothing.
    void expect_silence() { silence_expected_ = true; }
    void tick(uint64_t now_ns);
    uint64_t deadline_ns() const;

private:
    void ready();
    void dispatch();
    void flush();
    void lose(const std::string &why);

    Loop &loop_;
    uint64_t silence_ns_;
    Handlers handlers_;
    int in_ = -1, out_ = -1;
    std::string received_, unsent_;
    size_t sent_ = 0;  // bytes at the beginning of unsent_ that are written
    bool waiting_ = false;
    bool silence_expected_ = false;
    uint64_t heard_ns_ = 0, spoke_ns_ = 0, ticked_ns_ = 0;
    std::string trouble_;  // found while sending, reported a moment later
    uint64_t trouble_ns_ = 0;
    void set_trouble(const std::string &why);
};

}  // namespace lanyard::launch
