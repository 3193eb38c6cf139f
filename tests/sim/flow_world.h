// FlowWorld simulates processes that send each other data through flows (path/dgram/flow.h) over the
// simulated network of packets. It keeps lists of everything that was sent. When data arrives, it compares
// the data with these lists at once, byte by byte. It also checks that what the flows report (delivered,
// ended) is consistent. The first error is stored as the complaint and ends the scenario. Single-threaded.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "net/sim/packet_network.h"
#include "path/dgram/flow.h"

namespace lanyard::sim {

struct SentMessage {
    Envelope envelope;
    std::vector<std::byte> payload;
};

// The data that one process has sent to another, and how much of it has arrived.
struct Conversation {
    std::vector<SentMessage> log;
    uint64_t delivered = 0;  // number of messages that the flow has reported to the sender as delivered
    uint64_t arrived = 0;    // number of messages that have arrived completely
    size_t arrived_of_next = 0;
    struct Bulk {
        std::vector<std::byte> bytes;
        std::map<uint64_t, uint64_t> received;  // the ranges that have arrived: begin to end
        size_t missing;
        // Notes that the bytes from `begin` to `end` have arrived. Returns how many of them had
        // arrived before.
        uint64_t add(uint64_t begin, uint64_t end);
        bool delivered = false;
    };
    std::vector<Bulk> bulk;  // indexed by receive id
    uint64_t arrived_twice = 0;  // bytes of bulk that have arrived more than once
    int ended = 0;
    dgram::FlowEnd how{};
};

class FlowWorld {
public:
    FlowWorld(uint64_t seed, const PacketBehaviour &behaviour, uint32_t hosts,
              const dgram::FlowLimits &limits);
    ~FlowWorld();

    void send(uint32_t from, uint32_t to, size_t size);
    void send_bulk(uint32_t from, uint32_t to, size_t size);
    // From now on, whenever a host is served, an earlier packet arrives again with this probability,
    // unchanged or changed. In all, 500 packets arrive again and no more. Without this limit a scenario might
    // never end, because the answer to such a packet causes further packets.
    void disturb(int percent) { disturb_percent_ = percent; }
    // With `copies`, bulk_bytes() copies the bytes to `scratch` in half of its calls, at random.
    // Otherwise it always returns their address.
    void copy_bulk(bool copies) { copies_bulk_ = copies; }
    // From now on, this host polls only at this interval, even if packets arrive or a deadline
    // passes in between.
    void look_every(uint32_t host, uint64_t ns);
    // Sets what all processes know about whether a peer that does not answer still lives.
    void know(dgram::PeerState state) { peer_state_ = state; }
    // Runs until the time `ns`. Returns false if there is a complaint().
    bool run_until(uint64_t ns);
    // Runs until no flow is active: everything has been delivered, and every flow has returned its
    // memory. Returns false if this takes until `limit_ns`, or if there is a complaint().
    bool run_until_idle(uint64_t limit_ns);
    // Runs until all bulk that was sent to host `to` has arrived. Returns false as above.
    bool run_until_bulk_arrived(uint32_t to, uint64_t limit_ns);

    PacketNetwork &network() { return network_; }
    Conversation &conversation(uint32_t from, uint32_t to) {
        return conversations_[from * hosts_.size() + to];
    }
    dgram::Flow &flow(uint32_t own, uint32_t peer);
    dgram::FlowCounts counts() const;
    // Number of packets that arrived and did not name another process of this world as their
    // sender.
    uint64_t astray() const { return astray_; }
    uint64_t now_ns() const { return network_.now_ns(); }
    const std::string &complaint() const { return complaint_; }
    // Describes the state of the network and of all flows, for reports.
    std::string describe();

private:
    class Host;

    void complain(const std::string &what);
    std::vector<std::byte> any_bytes(size_t size);
    bool step(uint64_t limit_ns);
    bool is_idle();
    void serve(Host &host);
    void wake(Host &host);
    uint64_t served_at_ns(const Host &host) const;

    PacketNetwork network_;
    Random random_;
    int disturb_percent_ = 0, disturbances_left_ = 500;
    uint64_t steps_ = 0, astray_ = 0;
    bool copies_bulk_ = false;
    dgram::PeerState peer_state_ = dgram::PeerState::unknown;
    std::vector<Conversation> conversations_;
    std::vector<std::unique_ptr<Host>> hosts_;
    std::string complaint_;
    std::vector<std::byte> bytes_;  // random bytes, from which any_bytes() takes all payload
};

}  // namespace lanyard::sim
