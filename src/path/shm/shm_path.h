// ShmPath is the path between processes of one node. Frames travel in rings, one ring for each direction
// between two processes. A process opens its ring to a peer when it first sends to the peer (ring_offers.h),
// writes frames into the ring by an Outlet, and reads the peer's ring by an Inlet. The path also reads and
// writes the memory of the node's other processes without their help.
// When a peer is reported as lost, its outlet is closed. Sends then find no ring, and what is sent to the
// peer is discarded.
// This class maps peers to members of the segment and connects the parts, which deal only with members.
// Thread rule: the owner of the engine, unless a part states another rule.
#pragma once

#include <string>
#include <vector>

#include "base/growing.h"
#include "path/path.h"
#include "path/shm/cells.h"
#include "path/shm/counters.h"
#include "path/shm/direct_copies.h"
#include "path/shm/inlets.h"
#include "path/shm/outlet.h"
#include "path/shm/ring_offers.h"
#include "path/shm/segment.h"
#include "path/shm/shared_blocks.h"

namespace lanyard {

class ShmPath final : public Path, private DirectMemory, private ShortLane {
public:
    // `peers[i]` is the peer number of the node's i-th process; `own` is the index of this process among
    // them. `direct_copies`: the user allows them. The segment must outlive the path.
    ShmPath(Segment &segment, uint32_t own, const std::vector<uint32_t> &peers, bool direct_copies);
    // [owner] Adds the node's next process, which has this peer number. Returns false if this process has no
    // addresses or memory for it.
    bool add_member(uint32_t peer);

    bool reaches(uint32_t peer) const override { return index_of(peer) != not_here; }

    Sent send(uint32_t peer, const Envelope &envelope, Payload payload) override;
    Sent send_bulk(uint32_t peer, const BulkHeader &header, Payload payload, uint64_t token) override;
    int poll(Sink &sink, int budget, uint64_t now_ns) override;
    std::string describe() const override;

    // sleep_word(): the sleep word of this process. asleep(): does that peer sleep? The answer is reliable
    // after the caller has stored what the peer is to find. wake(): wakes that peer.
    SleepWord &sleep_word() { return segment_.member(own_).sleep; }
    bool asleep(uint32_t peer) const { return rings_[index_of_peer_[peer]].out.ring().reader_seems_asleep(); }
    void wake(uint32_t peer) { wake_sleeper(segment_.member(index_of_peer_[peer]).sleep, true); }

    Segment &segment() const { return segment_; }
    SharedBlocks &blocks() { return blocks_; }
    const Cells &cells() const { return cells_; }
    const Inlets &inlets() const { return inlets_; }
    DirectCopies &direct_copies() { return direct_copies_; }
    uint32_t own() const { return own_; }

private:
    static constexpr uint32_t not_here = UINT32_MAX;

    // The rings to and from one peer.
    struct Rings {
        explicit Rings(SleepWord &sleep) : out(sleep) {}

        Outlet out;
        Inlet *in = nullptr;  // null until this process has accepted the peer's ring
    };

    bool touches(uint32_t peer) override {
        return reaches(peer) && direct_copies_.work_with(index_of_peer_[peer]);
    }
    Error get(uint32_t peer, const iovec *local, int runs, uint64_t remote_address, size_t bytes) override;
    Error put(uint32_t peer, const iovec *local, int runs, uint64_t remote_address, size_t bytes) override;
    std::byte *mapped(uint32_t peer, uint64_t address, size_t bytes) override {
        return blocks_.find(index_of_peer_[peer], address, bytes);
    }
    std::atomic<uint64_t> *shared_word(uint32_t owner, uint32_t index) override {
        return &segment_.member(index_of_peer_[owner]).word[index].value;
    }
    RingWriter *ring_to(uint32_t peer) override { return &rings_[index_of_peer_[peer]].out.ring(); }
    size_t max_shown() const override { return most_inlined; }
    bool peek(uint32_t peer, ShortFrame &frame) override;
    void take(uint32_t peer, void *payload) override;

    uint32_t index_of(uint32_t peer) const {
        return peer < index_of_peer_.size() ? index_of_peer_[peer] : not_here;
    }
    bool open_outlet(uint32_t index);
    // The answer to a send that finds no ring: the peer is lost, or is about to be.
    Sent without_outlet(uint32_t index) const { return offers_.is_lost(index) ? Sent::done : Sent::full; }
    Sent send_long(uint32_t index, const Envelope &envelope, Payload payload);
    int accept_inlets(Sink &sink);
    bool accept_inlet(uint32_t index);
    int report_lost(uint32_t index, Sink &sink);

    Segment &segment_;
    const uint32_t own_;
    SharedBlocks blocks_;
    Cells cells_;
    DirectCopies direct_copies_;
    RingOffers offers_;
    std::vector<uint32_t> peers_;
    std::vector<uint32_t> index_of_peer_;
    Growing<Rings> rings_;  // never move, since p2p keeps the addresses of outgoing rings (ring_to())
    Inlets inlets_;
    CounterSource counted_{shm_counters(), *this};
};

}  // namespace lanyard
