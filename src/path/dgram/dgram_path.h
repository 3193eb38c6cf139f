// The datagram path: one endpoint (net/packet_io.h) reaches every peer, and a flow for each peer (flow.h) makes what travels reliable. To p2p a
// path like any other: an envelope is `done` when its copy is in the log of its peer, bulk stays where it is until the peer's library has it
// all, so nothing that was sent is ever lost (info.loses_bulk is false).
//
// What is sent outside poll() leaves at once where the flow may send; what poll() brings about leaves at its end, many packets by one system call.
// But where it brought something for the program, from one peer, to which nothing is to be said at once, the program has it first: what it sends
// then has our answer with it, and the next poll sees to the rest. (Not where processes share processors: the next poll may be long after.)
// What time asks for is the matter of poll() alone, when it has read what has come: a process that had to wait for a processor finds timers that
// have passed and the answers in its socket.
//
// Several envelopes may share a packet (packet_batching.h).
// What is kept leaves with whatever leaves, at the end of poll(), and at flush(): when the program waits or tests, also for a
// request that was complete at once, and at the end of any call but a nonblocking send. A program that sends and then computes for
// long, against the habit, has a helper (the engine says more_follows() only where there is one), to which activity() says that there is
// something to do: it polls as soon as the answer to the packets of this series has come, or, where the program has always been back at once, after
// 2 ms. And where a peer is so slow that no answer comes, or processes share processors, after 10 ms or more, as always with
// LANYARD_DGRAM_PROGRESS=thread. With `engine` all leaves at once.
//
// While packets come and this process does not sleep the endpoint need not tell of them (PacketIo::watch), which makes them arrive sooner: a thread
// that asks all the time finds them. Where processes share processors they sleep so often that it would not pay.
//
// A poll delivers whole packets, which may hold many envelopes, and what waited for them: beyond its budget up to info.most_at_once.
// Peers that are silent are asked whether they live four times within LANYARD_PEER_TIMEOUT, as who only waits for them would never know. A process
// that does not answer, though its kernel does (liveness.h), computes, and is waited for; once it is told of, as nothing but UDP may be closed.
// A peer is an object from the first packet to or from it; after that it holds what its flow holds, and nothing for what has been delivered.
// Where a peer has several addresses any may lead nowhere, or to somebody else: ways.cc says how one is found that leads there.
// Thread rule: the owner of the engine.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/growing.h"
#include "base/processes.h"
#include "base/published.h"
#include "net/packet_io.h"
#include "path/assembly.h"
#include "path/dgram/packet_batching.h"
#include "path/dgram/bulk_slots.h"
#include "path/dgram/counters.h"
#include "path/dgram/envelope_log.h"
#include "path/dgram/flow.h"
#include "path/dgram/liveness.h"
#include "path/network_counters.h"
#include "path/network_path.h"
#include "path/reliable/limits.h"
#include "path/reliable/reports.h"

namespace lanyard {

struct DgramLimits : ReliableLimits, dgram::BatchLimits {
    dgram::FlowLimits flow;
    int most_bulk = 8;               // bulk frames of one peer that are under way
    bool computing_answers = true;     // processes that compute answer nevertheless (LANYARD_DGRAM_PROGRESS)

    // Frames of a packet, and of those that waited for it.
    int most_at_once() const {
        size_t early = flow.early_blocks * (dgram::EarlyBlock::room / sizeof(dgram::Piece));
        return static_cast<int>(dgram::most_packet / dgram::next_frame_bytes + early);
    }
};

class DgramPath final : public NetworkPath, private dgram::FlowOwner {
public:
    // The name of a peer's endpoint, once it is needed.
    using FindName = std::function<Error(uint32_t peer, std::string &name)>;

    // `own` is in the table, too. `epoch`: not 0, and unlike those of earlier processes with this name.
    DgramPath(PacketIo &io, ProcessName own, const Processes &processes, uint32_t epoch, const Crc32c &crc, const DgramLimits &limits,
              FindName find);
    ~DgramPath() override;

    // Peers that do not answer are asked by these too.
    void use(Liveness &liveness) { liveness_ = &liveness; }

    void grow() override {
        while (peers_.size() < processes_.count() && peers_.append()) {  // where there is no room, the others are not reached
        }
    }
    void set_secret(const Secret &secret) override { home_.secret = secret; }
    bool connected_to_all() override { return true; }  // there are no connections
    void leave(bool leaving) override { leaving_ = leaving; }
    void answer_all() override;
    void close_idle() override {}
    void share_processors() override { home_.oversubscribed = true; }

    bool reaches(uint32_t peer) const override { return peer < peers_.size() && peer != own_; }
    Sent send(uint32_t peer, const Envelope &envelope, Payload payload) override;
    Sent send_bulk(uint32_t peer, const BulkHeader &header, Payload payload, uint64_t token) override;
    bool settled() override;
    void more_follows() override { begin_series(true); }
    void flush() override { begin_series(false); }
    int poll(Sink &sink, int budget, uint64_t now_ns) override;
    void prepare_to_sleep(bool process_sleeps) override;
    PathActivity activity() const override;
    uint64_t deadline_ns() const override;
    std::string describe() const override;
    void report() const override;
    // Tells all peers that this process ends.
    void close() override;

    // Whether a peer lives and is reached: asks it, and says whether it has ever answered anything.
    void ask(uint32_t peer);
    bool has_answered(uint32_t peer) const { return peers_[peer] && peers_[peer]->flow.trip().known(); }
    bool is_lost(uint32_t peer) const { return peers_[peer] && peers_[peer]->lost; }
    // Between which addresses packets to the peer go, for reports.
    std::string ends(uint32_t peer);

    struct RoundTrips {
        uint64_t mean_ns = 0, least_ns = 0;  // of all peers; 0: nobody has answered yet
    };
    // By any thread, as is the next: what is counted of packets, of messages, of one peer; peers that something was sent to or came from.
    const dgram::FlowCounts &counts() const { return home_.counts; }
    const NetworkCounts &message_counts() const { return counts_; }
    dgram::PeerCounts counts_of(uint32_t peer) const;
    RoundTrips round_trips() const;
    size_t known() const { return known_; }
    uint32_t peer_count() const { return static_cast<uint32_t>(peers_.size()); }
    // Those of them with something under way.
    size_t active() const { return active_.size(); }

private:
    // An envelope of which the beginning has come.
    struct Arriving {
        Envelope envelope;
        Assembly assembly;
    };
    // By which packets go to a peer: known, or taken until it is, as the only one in the peer's name or as one of several.
    enum class Way : uint8_t { known, sought, sought_among_several };
    struct Peer {
        Peer(dgram::FlowHome &home, uint32_t number, uint32_t epoch, uint64_t to, size_t largest)
            : flow(home, number, epoch, largest), destination(to) {}

        dgram::Flow flow;
        uint64_t destination;
        dgram::EnvelopeLog log;
        std::unique_ptr<Arriving> arriving;
        int bulk_under_way = 0;
        dgram::Series series;
        uint32_t place = not_active;  // in the list of the active
        uint8_t quarters = 0;         // of LANYARD_PEER_TIMEOUT that it has been silent though it lives, up to four
        bool due = false;             // among those
        bool lost = false;
        Way way = Way::sought;
    };
    struct Outbox;
    static constexpr uint32_t not_active = UINT32_MAX;

    dgram::Logged logged(dgram::Flow &flow, uint64_t sequence) override;
    const std::byte *bulk_bytes(dgram::Flow &flow, uint64_t token, uint64_t offset, std::byte *scratch, size_t size) override;
    void delivered(dgram::Flow &flow, uint64_t below) override;
    void bulk_delivered(dgram::Flow &flow, uint64_t token) override;
    void envelope(dgram::Flow &flow, const dgram::Piece &piece, const std::byte *payload) override;
    void bulk(dgram::Flow &flow, const BulkHeader &header, const std::byte *payload, size_t size) override;
    dgram::Life life(dgram::Flow &flow) override;
    uint32_t serial_of(uint32_t peer) const override { return static_cast<uint32_t>(processes_.name(peer).serial()); }
    void silent(dgram::Flow &flow, bool now) override;
    void ended(dgram::Flow &flow, dgram::FlowEnd how) override;

    std::string why(const Peer &peer, dgram::FlowEnd how) const;
    std::string cut_off_text() const;
    void look_after_peers();
    Peer *contact(uint32_t peer);
    void list(Peer &peer);
    void look_again(Peer &peer);
    void note_trouble(int trouble);
    void end_all();
    int take_packets(int budget);
    void take_packet(const PacketIo::Arrived &packet);
    void begin_series(bool more_follows);
    bool may_wait() const;
    void postpone();
    void write_out();
    bool fill_from(Peer &peer);
    bool send_filled();
    void note_origins(bool on);
    void learn_way(Peer &peer, const PacketIo::Arrived &received);
    void send_by_other_ways(const Peer &peer, PacketIo::Outgoing packet);
    bool all_delivered() const { return undelivered_ == 0 && bulk_.count() == 0; }
    void trim_memory();
    void report_holes() const;
    void report_silence(const Peer &peer) const;

    PacketIo &io_;
    const Processes &processes_;
    const uint32_t own_, epoch_;
    const DgramLimits limits_;
    dgram::FlowHome home_;
    FindName find_;
    Growing<Published<Peer>> peers_;  // by number; none: never met
    Tally<size_t> known_;
    NetworkCounts counts_;
    std::vector<uint32_t> active_;
    std::vector<uint32_t> due_;   // those of them that something may have to be sent to now, whatever the time
    size_t turn_ = 0;             // of who is first when all are
    size_t undelivered_ = 0;      // envelopes, in all logs
    size_t assembling_ = 0;       // likewise
    BytePool log_pool_;  // of what lies in all logs
    dgram::BulkSlots bulk_;
    dgram::PacketBatching batching_;
    Reports reports_;  // bulk that has been delivered, peers that are lost
    std::unique_ptr<Outbox> outbox_;
    Sink *sink_ = nullptr;  // during poll()
    int told_ = 0;          // to it, in this poll
    uint64_t now_ns_ = 0, next_ns_ = no_deadline, ask_at_ns_ = 0;
    uint64_t look_at_ns_ = 0;  // after peers, next
    uint64_t quiet_at_ns_ = no_deadline;  // when nothing will have come for so long that no peer asks any more, and this process rests
    uint32_t wakeful_polls_ = 0;    // looks that found something since this process last slept
    uint64_t heard_all_ns_ = 0;  // when the endpoint was last found to have nothing more
    Liveness *liveness_ = nullptr;
    const bool seeks_ways_;  // the endpoint can note where packets come from, which it does for a while
    bool notes_origins_ = false;
    uint64_t note_origins_until_ns_ = 0;
    uint32_t ways_known_ = 0;  // of so many peers
    int trouble_ = 0;       // why the endpoint is of no use any more: an errno,
    int cut_off_ = 0;       // of which the next poll tells
    bool full_ = false;     // the endpoint
    bool leaving_ = false;
    bool told_silence_ = false;  // of a peer that lives; once
    bool more_ = false;      // has come, beyond the budget of the last poll
    bool to_write_ = false;  // something was sent inside poll(), or is kept
    bool postponed_ = false;  // the look at the peer whose packets came last
    CounterSource counted_[3]{{network_counters(), counts_}, {flow_counters(), home_.counts}, {datagram_counters(), *this}};
};

}  // namespace lanyard
