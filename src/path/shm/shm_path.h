// The path between processes of one node: a ring each way, opened at first contact; payload beside the envelope up to a few
// lines, in the sender's cells up to a few cells; direct copies where the kernel allows them.
// Payload of several cells comes in as many frames, one behind the other: the reader copies the first while the writer fills the second, so
// a message is on its way for little longer than one copy takes. All of them are published by one send(), or none.
// A frame is published with a full barrier before the peer's sleep word is read, a sleeper sets its word before it polls once more:
// so one of the two always sees the other (rule 4).
// Thread rule: the owner of the engine.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/growing.h"
#include "path/assembly.h"
#include "path/path.h"
#include "path/shm/cells.h"
#include "path/shm/counters.h"
#include "path/shm/direct_copies.h"
#include "path/shm/ring_offers.h"
#include "path/shm/segment.h"
#include "path/shm/shared_blocks.h"
#include "path/short_ring.h"

namespace lanyard {

class ShmPath final : public Path, private DirectMemory, private ShortLane {
public:
    // `peers[i]` is the number of the node's i-th process; `own` the index of this one.
    ShmPath(Segment &segment, uint32_t own, std::vector<uint32_t> peers, bool direct_copies);
    // The node's next process has this number. False: this process has no addresses for it. [owner]
    bool add_member(uint32_t peer);

    bool reaches(uint32_t peer) const override { return index_of(peer) != not_here; }

    Sent send(uint32_t peer, const Envelope &envelope, Payload payload) override;
    Sent send_bulk(uint32_t peer, const BulkHeader &header, Payload payload, uint64_t token) override;
    int poll(Sink &sink, int budget, uint64_t now_ns) override;
    std::string describe() const override;

    // Where this process sleeps; and whether a peer does, after the caller has stored something for it.
    SleepWord &sleep_word() { return self_.sleep; }
    bool asleep(uint32_t peer) const { return outlets_[index_of_peer_[peer]].ring.reader_seems_asleep(); }
    void wake(uint32_t peer) { wake_sleeper(segment_.member(index_of_peer_[peer]).sleep, true); }

    Segment &segment() const { return segment_; }
    SharedBlocks &blocks() { return blocks_; }
    const Cells &cells() const { return cells_; }
    const RingOffers &ring_offers() const { return offers_; }
    DirectCopies &direct_copies() { return direct_copies_; }
    uint32_t own() const { return own_; }

private:
    static constexpr uint32_t not_here = UINT32_MAX;

    struct Inlet;
    // To and from a peer.
    struct Outlet {
        explicit Outlet(SleepWord &sleep) : ring(sleep) {}

        RingWriter ring;
        Inlet *inlet = nullptr;  // the ring that the peer opened
    };
    struct Inlet {
        RingReader ring;
        uint32_t member;
        uint32_t place;  // of the awaited
        Assembly assembly;  // of an envelope whose payload arrives in several cells
        Envelope envelope;  // that one
    };

    // What a look at an idle inlet reads, close together: 64 of them are 16 lines, and the rings' lines beside.
    struct Awaited {
        const std::atomic<uint64_t> *word;
        uint32_t number;
    };

    bool touches(uint32_t peer) override { return reaches(peer) && direct_copies_.work_with(index_of_peer_[peer]); }
    Error get(uint32_t peer, const iovec *local, int runs, uint64_t remote_address, size_t bytes) override;
    Error put(uint32_t peer, const iovec *local, int runs, uint64_t remote_address, size_t bytes) override;
    std::byte *mapped(uint32_t peer, uint64_t address, size_t bytes) override { return blocks_.find(index_of_peer_[peer], address, bytes); }
    std::atomic<uint64_t> *shared_word(uint32_t owner, uint32_t index) override {
        return &segment_.member(index_of_peer_[owner]).word[index].value;
    }
    RingWriter *ring_to(uint32_t peer) override { return &outlets_[index_of_peer_[peer]].ring; }
    size_t max_shown() const override { return most_inlined; }
    bool peek(uint32_t peer, ShortFrame &frame) override;
    void take(uint32_t peer, void *payload) override;

    uint32_t index_of(uint32_t peer) const { return peer < index_of_peer_.size() ? index_of_peer_[peer] : not_here; }
    bool open_outlet(uint32_t index);
    int accept_inlets(Sink &sink);
    bool accept_inlet(uint32_t index);
    int report_lost(uint32_t index, Sink &sink);
    size_t next_with_frame(size_t first, size_t last) const;
    int drain_from(size_t first, size_t last, Sink &sink, int budget);
    int drain(Inlet &inlet, Sink &sink, int budget);
    Sent send_long(uint32_t index, const Envelope &envelope, Payload payload);
    Sent send_in_cells(RingWriter &ring, const Envelope &envelope, Payload payload);
    void take_part(Inlet &inlet, Sink &sink, const std::byte *payload, size_t size);
    static uint32_t cells_of_frame(const Segment &segment);

    Segment &segment_;
    uint32_t own_;
    MemberControl &self_;
    SharedBlocks blocks_;
    Cells cells_;
    DirectCopies direct_copies_;
    RingOffers offers_;
    std::vector<uint32_t> peers_;
    std::vector<uint32_t> index_of_peer_;
    Growing<Outlet> outlets_;  // p2p writes to their rings
    Growing<Inlet> inlets_;
    std::vector<Awaited> awaited_;  // by inlet
    size_t next_inlet_ = 0;  // polling begins here: behind the one that used up the budget last
    std::vector<std::byte> gathered_;
    CounterSource counted_{shm_counters(), *this};
};

}  // namespace lanyard
