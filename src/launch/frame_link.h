// A FrameLink carries frames (protocol.h) between mpirun and an agent, or between two agents. It has two
// descriptors, one to read and one to write. Driven by the loop; single-threaded. Invariants: a link never
// blocks. It stores frames that cannot be written yet. These are few, because streams are limited by credit.
// If 64 MiB wait for the other side to read, the other side counts as failed. send() calls no handlers. The
// link closes itself when the other side has failed, otherwise its owner closes it. A handler may close the
// link, but must not destroy it.
// Tested by: tests/fuzz/agent.cc, tests/launch/test_hosts_endings.py.
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
        // Called at most once, after the link has closed itself.
        std::function<void(const std::string &why)> lost;
    };
    FrameLink(Loop &loop, uint64_t silence_ns, Handlers handlers)
        : loop_(loop), silence_ns_(silence_ns), handlers_(std::move(handlers)) {}
    ~FrameLink() { close(); }
    FrameLink(const FrameLink &) = delete;
    FrameLink &operator=(const FrameLink &) = delete;

    // Takes ownership of both descriptors. `received` contains bytes that have already been read from `in`;
    // they are handled when the next bytes arrive. Returns false if the loop cannot wait for `in`.
    bool open(int in, int out, std::string received);
    void send(const Frame &frame);
    void close();
    bool is_open() const { return in_ >= 0; }
    void set_silence(uint64_t silence_ns) { silence_ns_ = silence_ns; }
    // Called when the other side is about to be stopped by a signal. Until the other side sends again, its
    // silence does not make it count as failed.
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
    size_t sent_ = 0;  // how many bytes at the beginning of unsent_ have been written
    bool waiting_ = false;
    bool silence_expected_ = false;
    uint64_t heard_ns_ = 0, spoke_ns_ = 0, ticked_ns_ = 0;
    std::string trouble_;  // why sending has failed; reported to the handler a moment later
    uint64_t trouble_ns_ = 0;
    void set_trouble(const std::string &why);
};

}  // namespace lanyard::launch
