// Processes whose flows (path/dgram/flow.h) meet on the simulated network of packets, and the plainest reference for them: lists of what was
// sent. What comes is compared at once, byte by byte; what is told (delivered, ended) is checked for making sense. Complaints end a scenario.
// Single-threaded.
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

// What one process has sent to another, and what has come of it.
struct Conversation {
    std::vector<SentMessage> log;
    uint64_t delivered = 0;  // as the sender was told
    uint64_t came = 0;       // whole messages
    size_t came_of_next = 0;
    struct Bulk {
        std::vector<std::byte> bytes;
        std::map<uint64_t, uint64_t> received;  // ranges: from their begin to their end
        size_t missing;
        // How many of these bytes had come before.
        uint64_t add(uint64_t begin, uint64_t end);
        bool delivered = false;
    };
    std::vector<Bulk> bulk;  // by receive id
    uint64_t came_twice = 0;  // bytes of bulk
    int ended = 0;
    dgram::FlowEnd how{};
};

class FlowWorld {
public:
    FlowWorld(uint64_t seed, const PacketBehaviour &behaviour, uint32_t hosts, const dgram::FlowLimits &limits);
    ~FlowWorld();

    void send(uint32_t from, uint32_t to, size_t size);
    void send_bulk(uint32_t from, uint32_t to, size_t size);
    // Packets that came are repeated later, and such that nobody sent come too, with this chance in a hundred whenever a process does anything; a
    // few hundred times, as each is answered, which is something to do.
    void disturb(int percent) { disturb_percent_ = percent; }
    // bulk_bytes() answers by copying, at random.
    void copy_bulk(bool copies) { copies_bulk_ = copies; }
    // From now on this host looks only so often, whatever comes and whatever time asks for.
    void look_every(uint32_t host, uint64_t ns);
    // What everybody knows of the life of those who do not answer.
    void know(dgram::Life life) { life_ = life; }
    // Goes on until then; false: something is wrong (complaint()).
    bool run_until(uint64_t ns);
    // Until all has been delivered and every flow has given its memory back.
    bool run_until_settled(uint64_t limit_ns);
    // Until what was sent as bulk from anywhere to `to` has come.
    bool run_until_bulk_came(uint32_t to, uint64_t limit_ns);

    PacketNetwork &network() { return network_; }
    Conversation &conversation(uint32_t from, uint32_t to) { return conversations_[from * hosts_.size() + to]; }
    dgram::Flow &flow(uint32_t own, uint32_t peer);
    dgram::FlowCounts counts() const;
    // Packets that name no other process as their sender.
    uint64_t astray() const { return astray_; }
    uint64_t now_ns() const { return network_.now_ns(); }
    const std::string &complaint() const { return complaint_; }
    // Of what is not delivered, for reports.
    std::string describe();

private:
    class Host;

    void complain(const std::string &what);
    std::vector<std::byte> any_bytes(size_t size);
    bool step(uint64_t limit_ns);
    bool settled();
    void serve(Host &host);
    void wake(Host &host);
    uint64_t served_at_ns(const Host &host) const;

    PacketNetwork network_;
    Random random_;
    int disturb_percent_ = 0, disturbances_left_ = 500;
    uint64_t steps_ = 0, astray_ = 0;
    bool copies_bulk_ = false;
    dgram::Life life_ = dgram::Life::unknown;
    std::vector<Conversation> conversations_;
    std::vector<std::unique_ptr<Host>> hosts_;
    std::string complaint_;
    std::vector<std::byte> bytes_;  // from which all payload is taken
};

}  // namespace lanyard::sim
