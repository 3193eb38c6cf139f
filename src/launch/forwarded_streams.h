// Connects the standard streams of the ranks on an agent's host with mpirun. The output of the ranks is sent
// to mpirun unchanged. mpirun's standard input is sent to the agent and written into the pipe of the rank
// that reads it. Streams are limited by credit (protocol.h): without credit, no output is read from the
// ranks, so they wait. Driven by the loop; single-threaded; never blocks.
// Tested by: tests/launch/test_hosts.py.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "launch/loop.h"
#include "launch/protocol.h"
#include "launch/streams.h"

namespace lanyard::launch {

class ForwardedStreams final : public StandardStreams {
public:
    ForwardedStreams(Loop &loop, int node, std::function<void(const Frame &)> send)
        : loop_(loop), node_(node), send_(std::move(send)) {}
    ~ForwardedStreams() override;

    int connect_rank(int rank, int target) override;
    void catch_up() override;
    // Creates the pipe for input and returns the rank's end of it, which the caller must close. Returns -1
    // with errno set if the system refuses; input that arrives is then dropped.
    int connect_input();

    // Handles a frame of the kind output_credit, output_closed or input.
    void take(const Frame &frame, const Stream &stream);
    // Called after the last rank has ended. Reads what is in the pipes, as far as credit allows, and closes
    // each pipe when it is empty, even if other processes still have it open.
    void drain();
    bool empty() const { return open_ == 0; }

private:
    struct Source {
        int rank, target, fd;
        bool watched;
    };
    bool forward(Source &source);
    void close_source(Source &source);
    void watch(Source &source, bool wanted);
    void watch_all();
    void flush_input();
    void close_input();

    Loop &loop_;
    int node_;
    std::function<void(const Frame &)> send_;
    std::vector<std::unique_ptr<Source>> sources_;
    size_t open_ = 0;  // the number of open sources
    uint32_t credit_[3] = {0, stream_window, stream_window};
    bool draining_ = false;
    int input_ = -1;
    std::string input_bytes_;  // received input that has not been written into the pipe
    bool input_ends_ = false;
    bool input_waits_ = false;
};

}  // namespace lanyard::launch
