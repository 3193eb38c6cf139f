// Provides two flows that know each other, without a network. The test takes each packet and gives it to the
// other side, or drops it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "path/dgram/flow.h"

namespace lanyard::dgram {

constexpr uint64_t trip_ns = 100'000;  // from one side to the other, in tests that simulate the time

using PacketBytes = std::vector<std::byte>;

// One process with one flow.
class Side : public FlowOwner {
public:
    static constexpr size_t largest = 1472;

    Side(uint32_t own, uint32_t peer, uint32_t epoch, const FlowLimits &limits = {}, char secret = '7');

    // Sends an envelope with this payload, or bulk with these bytes for receive id `token`.
    void send(const std::string &payload);
    void send_bulk(uint64_t token, std::string bytes);
    // All packets that may leave now.
    std::vector<PacketBytes> packets(uint64_t now_ns);
    // The only packet that may leave now, or an empty one if there is none.
    PacketBytes packet(uint64_t now_ns);
    Flow::Outcome give(const PacketBytes &packet, uint64_t now_ns) { return flow.received(packet, now_ns); }

    Logged logged(Flow &flow, uint64_t sequence) override;
    const std::byte *bulk_bytes(Flow &flow, uint64_t token, uint64_t offset, std::byte *scratch,
                                size_t size) override;
    void delivered(Flow &, uint64_t below) override { delivered_below = below; }
    void bulk_delivered(Flow &, uint64_t token) override { bulk_done.push_back(token); }
    void envelope(Flow &flow, const Piece &piece, const std::byte *payload) override;
    void bulk(Flow &flow, const BulkHeader &header, const std::byte *payload, size_t size) override;
    void ended(Flow &, FlowEnd how) override { ends.push_back(how); }

    std::vector<std::pair<Envelope, std::string>> log;
    std::vector<std::string> bulk_log;  // by token
    uint64_t delivered_below = 0;
    std::vector<uint64_t> bulk_done;
    std::vector<std::string> arrived;  // payloads
    std::string arriving;
    std::vector<std::string> bulk_arrived;  // by receive id
    std::vector<FlowEnd> ends;
    FlowHome home;
    Flow flow;
};

// Gives every packet to the other side until none is left, and returns the number of packets. When nothing
// else happens, time advances by `step_ns`, until `until_ns`.
int exchange(Side &a, Side &b, uint64_t &now_ns, uint64_t until_ns, uint64_t step_ns = 10'000);

// The header of a packet, its frames, and the lower 31 bits of its number.
PacketHeader header_of(const PacketBytes &packet);
std::vector<Frame> frames_of(const PacketBytes &packet);
uint64_t number_of(const PacketBytes &packet);
bool has(const PacketBytes &packet, FrameKind kind);

}  // namespace lanyard::dgram
