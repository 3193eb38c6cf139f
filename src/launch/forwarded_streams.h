// An agent's side of the standard streams of its host's ranks. What they print travels up to mpirun
// unchanged. What mpirun reads travels down into the pipe of the rank that reads. Streams are governed by
// credit (protocol.h): without credit, nothing is read from the ranks, so they wait. Driven by the loop;
// single-threaded; never blocks.
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
    // Creates the pipe for input and returns the rank's end, which the caller closes. Returns -1 if the
    // system refuses.
    int connect_input();

    // for the frames output_credit, output_closed and input
    void take(const Frame &frame, const Stream &stream);
    // After the last rank: reads what is in the pipes as credit allows and closes them, even if other
    // processes still have them open.
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
    size_t open_ = 0;  // open sources
    uint32_t credit_[3] = {0, stream_window, stream_window};
    bool draining_ = false;
    int input_ = -1;
    std::string input_bytes_;  // received, not yet in the pipe
    bool input_ends_ = false;
    bool input_waits_ = false;
};

}  // namespace lanyard::launch
