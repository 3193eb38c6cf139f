// The conformance suite: the contract of path/path.h as tests that every path passes. The fixture drives some connected
// paths from one thread; the tests are in path_suite.cc, the kinds of path in kinds.cc.
// Random decisions come from the seed, which a failure prints and LANYARD_TEST_SEED repeats.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/clock.h"
#include "conformance/connected.h"
#include "conformance/recorder.h"

namespace lanyard::conformance {

class PathSuite : public ::testing::TestWithParam<Kind> {
protected:
    static constexpr int most_polls = 200'000;  // polls of everyone without anything, before something counts as lost

    // The same, and so much time, as a poll may take next to none while the path waits for a timer, or its processor was taken away.
    class Patience {
    public:
        bool ends(int turn) const { return turn >= most_polls && clock_ns() - began_ns_ >= least_ns; }

    private:
        static constexpr uint64_t least_ns = 10'000'000'000;
        const uint64_t began_ns_ = clock_ns();
    };

    PathSuite();
    void SetUp() override {
        if (std::string lack = GetParam().lacks(); !lack.empty()) GTEST_SKIP() << lack;
    }

    // Makes the peers; the tests below need this first.
    void connect(uint32_t wanted);
    uint32_t peers() const { return static_cast<uint32_t>(recorders_.size()); }
    Path &path(uint32_t peer) { return *connected_->paths[peer]; }
    Recorder &recorder(uint32_t peer) { return *recorders_[peer]; }
    // A peer to send to, other than itself where there is one.
    uint32_t other(uint32_t peer);

    // One attempt; the number of the frame is the next one of this pair. Memory is scribbled over as soon as that is allowed.
    Sent send(uint32_t from, uint32_t to, size_t size, bool scattered);
    Sent send_bulk(uint32_t from, uint32_t to, size_t size, bool scattered);
    // Attempts until it is taken, polling everyone in between.
    void deliver(uint32_t from, uint32_t to, size_t size, bool scattered);
    void deliver_bulk(uint32_t from, uint32_t to, size_t size, bool scattered);
    int poll(uint32_t peer, int budget = 64);
    void poll_all();
    // Polls until all that was sent has arrived and nothing is pending; fails when that does not happen.
    void settle();

    std::unique_ptr<Connected> connected_;
    std::vector<std::unique_ptr<Recorder>> recorders_;
    uint64_t seed_;
    sim::Random random_;

private:
    bool settled();

    uint64_t next_token_ = 1;
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> envelopes_sent_, bulk_sent_;
    std::map<std::pair<uint32_t, uint32_t>, std::vector<size_t>> bulk_sizes_;
    ::testing::ScopedTrace trace_;
};

}  // namespace lanyard::conformance
