// SimNetwork simulates a network for tests, in the virtual time of a Baton (baton.h). It connects the paths
// of many runtimes in one process. Controlled by a seed, it does much of what path.h permits. Envelopes of
// one pair of peers keep their order. Between pairs, and for bulk, anything may happen: short and long
// delays, queues that fill, sends refused for a while, bulk that stays pending, direct access to memory
// refused now and then. The network fails the test if contiguous bytes were changed while their send was
// pending.
// Thread rule: the thread that holds the baton. Compiled into tests only.
// Tested by: tests/conformance/conformance_test.cc, tests/sim/p2p_test.cc.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "path/path.h"
#include "path/sim/baton.h"

namespace lanyard::sim {

struct Behaviour {
    uint64_t usual_delay_ns = 1000;
    uint64_t long_delay_ns = 100'000;
    int long_delay_percent = 2;
    size_t max_eager = 4096;
    size_t max_bulk = 8192;
    uint32_t queue_frames = 16;  // most in flight from one peer to another; more are `full`
    int stall_percent = 4;       // of sends: this send and further ones of the pair are `full` for a while
    int pending_percent = 40;    // of bulk sends
    bool bulk_follows = false;   // bulk arrives after envelopes that were sent before it
    bool touches_memory = false;
    int refuse_percent = 0;    // of gets and puts
    int preempt_percent = 25;  // of polls: other threads run first

    // Draws one of many kinds of network, some of them hostile.
    static Behaviour any(Random &random);
};

class SimNetwork;

class SimPath final : public Path, private DirectMemory {
public:
    SimPath(SimNetwork &network, uint32_t own);

    bool reaches(uint32_t peer) const override;
    Sent send(uint32_t peer, const Envelope &envelope, Payload payload) override;
    Sent send_bulk(uint32_t peer, const BulkHeader &header, Payload payload, uint64_t token) override;
    int poll(Sink &sink, int budget, uint64_t now_ns) override;
    std::string describe() const override;

private:
    bool touches(uint32_t peer) override;
    Error get(uint32_t peer, const iovec *local, int runs, uint64_t remote_address, size_t bytes) override;
    Error put(uint32_t peer, const iovec *local, int runs, uint64_t remote_address, size_t bytes) override;
    std::atomic<uint64_t> *shared_word(uint32_t owner, uint32_t index) override;

    SimNetwork &network_;
    uint32_t own_;
};

class SimNetwork {
public:
    SimNetwork(Baton &baton, const Behaviour &behaviour, uint32_t peers);

    SimPath &path(uint32_t peer) { return *paths_[peer]; }
    // States which thread of the baton polls this peer's path. The network notifies this thread when there is
    // a reason to poll.
    void drives(uint32_t peer, uint32_t thread) { peers_[peer].thread = thread; }
    // Ends a process: reports it to the others as lost, and drops everything in flight to and from it,
    // including its own bulk whose send is pending. (Pending bulk of others to it is dropped when it would
    // depart.) If the ended process is polled nevertheless, its pending sends end, and what it still sends is
    // discarded.
    void kill(uint32_t peer);
    // The number of frames that have been sent and neither delivered nor dropped.
    size_t in_flight() const { return in_flight_; }

private:
    friend class SimPath;
    struct Frame {
        uint32_t from = 0, to = 0;
        bool is_bulk = false;
        Envelope envelope{};
        BulkHeader header{};
        std::vector<std::byte> payload;
    };
    // A bulk frame whose send is pending, since it has not left its buffer. `buffer`: its bytes in the
    // program's memory; nullptr if they are not contiguous.
    struct Departure {
        uint64_t time_ns, token;
        const std::byte *buffer;
        Frame frame;
    };
    struct Line {  // from one peer to another
        uint64_t last_arrival_ns = 0;
        uint64_t stalled_until_ns = 0;
        uint32_t frames = 0;
        bool wants_room = false;
    };
    struct Peer {
        uint32_t thread = UINT32_MAX;
        bool dead = false;
        std::multimap<uint64_t, Frame> arriving;  // by time of arrival
        std::vector<Departure> leaving;
        std::vector<uint32_t> to_report;  // failed peers
        std::set<uint32_t> reported;
        std::atomic<uint64_t> words[shared_words] = {};
    };

    Line &line(uint32_t from, uint32_t to) { return lines_[from * peers_.size() + to]; }
    uint64_t delay_ns();
    bool room(uint32_t from, uint32_t to);
    void launch(Frame frame);
    int report_lost(uint32_t own, Sink &sink, int budget);
    int depart(uint32_t own, Sink &sink);
    int arrive(uint32_t own, Sink &sink, int budget);
    Error refused(const char *what);

    Baton &baton_;
    Behaviour behaviour_;
    std::vector<std::unique_ptr<SimPath>> paths_;
    std::vector<Peer> peers_;
    std::vector<Line> lines_;
    size_t in_flight_ = 0;
};

}  // namespace lanyard::sim
