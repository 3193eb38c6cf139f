// The conformance suite tests the contract in path/path.h. Every path must pass it. The fixture drives some
// connected paths from one thread. The tests are in path_suite.cc, the kinds of path in kinds.cc. Random
// decisions follow from the seed. A failure prints the seed, and LANYARD_TEST_SEED repeats the run with it.
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
    // If nothing arrives in this number of polls of all peers, the suite stops waiting, and the test fails.
    static constexpr int most_polls = 200'000;

    // Limits a loop: ends() is true after most_polls turns, but not before a minimum time. Without this
    // time, fast polls could use up the turns while the path waits for a timer or for a process that gets
    // no processor.
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

    // Creates the peers. Must be called before the functions below.
    void connect(uint32_t wanted);
    uint32_t peers() const { return static_cast<uint32_t>(recorders_.size()); }
    Path &path(uint32_t peer) { return *connected_->paths[peer]; }
    Recorder &recorder(uint32_t peer) { return *recorders_[peer]; }
    // A peer to which `peer` can send: another peer, or `peer` itself if it is the only one.
    uint32_t other(uint32_t peer);

    // Attempts once to send a frame, which gets the next number of this pair of peers. Overwrites the
    // payload's memory as soon as the path allows that.
    Sent send(uint32_t from, uint32_t to, size_t size, bool scattered);
    Sent send_bulk(uint32_t from, uint32_t to, size_t size, bool scattered);
    // Attempts to send until the path takes the frame, and polls all peers between attempts.
    void deliver(uint32_t from, uint32_t to, size_t size, bool scattered);
    void deliver_bulk(uint32_t from, uint32_t to, size_t size, bool scattered);
    int poll(uint32_t peer, int budget = 64);
    void poll_all();
    // Polls until everything that was sent has arrived and nothing is pending. The test fails if this takes
    // too long.
    void poll_until_all_arrived();

    std::unique_ptr<Connected> connected_;
    std::vector<std::unique_ptr<Recorder>> recorders_;
    uint64_t seed_;
    sim::Random random_;

private:
    bool all_arrived();

    uint64_t next_token_ = 1;
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> envelopes_sent_, bulk_sent_;
    std::map<std::pair<uint32_t, uint32_t>, std::vector<size_t>> bulk_sizes_;
    ::testing::ScopedTrace trace_;
};

}  // namespace lanyard::conformance
