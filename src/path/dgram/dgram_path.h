// DgramPath sends and receives datagrams. One endpoint (net/packet_io.h) reaches every peer, and a flow for
// each peer (flow.h) makes the traffic reliable. To p2p, DgramPath is a path like any other. An envelope is
// `done` when its copy is in the log of its peer. Bulk stays in the program's memory (or, if it is not
// contiguous there, in a packed copy) until the peer's library has all of it, so bulk is never lost
// (info.loses_bulk is false).
//
// Frames that are sent outside poll() leave at once if the flow may send. Frames that are sent inside poll()
// leave at the end of poll(), many packets by one system call. There is an exception: if a poll delivered
// something to the program from one peer only, and nothing must be sent to that peer at once, the program
// runs first. The program's next message then carries the acknowledgement, and the next poll sends the other
// frames. (This does not happen where processes share processors, because the next poll may be much later.)
// Only poll() acts on timers, after it has read the packets that have arrived. A process that had to wait for
// a processor may find that timers have expired while the answers already lie in its socket. If it acted on
// the timers first, it would send again packets that have been answered.
//
// Several envelopes may share a packet (packet_batching.h). Envelopes that are held back leave together with
// any other packet, at the end of poll(), and at flush(). flush() is called when the program waits or tests
// (even for a request that was complete at once), and at the end of any MPI call except a nonblocking send.
// If a program sends and then computes for a long time, the helper (engine/helper.h) sends the envelopes. The
// engine calls more_follows() only if a helper exists. activity() reports that there is something to do. The
// helper polls as soon as the answer to the packets of this series has arrived. If the program has lately
// always returned to MPI at once, the helper polls after 2 ms. It polls after 10 ms or more in three cases: a
// peer is so slow that no answer arrives, processes share processors, or LANYARD_DGRAM_PROGRESS is `thread`.
// With LANYARD_DGRAM_PROGRESS=engine, no envelope is held back.
//
// While packets arrive and this process does not sleep, the endpoint need not report the packets
// (PacketIo::watch), since a thread that polls all the time finds them. Packets then arrive sooner. Where
// processes share processors, the processes sleep so often that this would not pay off.
//
// A poll delivers whole packets, which may contain many envelopes, and the envelopes that waited for these
// packets. When a poll decides how many packets to read, it counts each as one frame. A poll may thus exceed
// its budget, since each of these packets may deliver up to info.most_at_once frames.
// Silent peers receive a probe four times within LANYARD_PEER_TIMEOUT, since a process that only waits for a
// peer would otherwise never notice that the peer has failed. If a process does not answer although its
// kernel does (liveness.h), it is probably computing, and this process waits for it. This is reported once,
// since the cause may also be that only UDP is blocked.
// The first packet to or from a peer creates a Peer object. Besides its flow, this object needs memory only
// for what has not been delivered yet.
// If a peer has several addresses, each of them may lead nowhere, or to another machine. peer_routes.cc
// explains how this path finds an address that leads to the peer.
// Thread rule: the owner of the engine, unless a function says otherwise.
// Tested by: tests/conformance/conformance_test.cc, tests/sim/datagrams_test.cc.
// Tested by: tests/unit/path/dgram/batched_sends_test.cc.
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
#include "path/dgram/bulk_slots.h"
#include "path/dgram/counters.h"
#include "path/dgram/envelope_log.h"
#include "path/dgram/flow.h"
#include "path/dgram/liveness.h"
#include "path/dgram/packet_batching.h"
#include "path/network_counters.h"
#include "path/network_path.h"
#include "path/reliable/limits.h"
#include "path/reliable/reports.h"

namespace lanyard {

struct DgramLimits : ReliableLimits, dgram::BatchLimits {
    dgram::FlowLimits flow;
    int most_bulk = 8;              // the most bulk frames that may be under way to one peer
    bool computing_answers = true;  // processes that compute answer nevertheless (LANYARD_DGRAM_PROGRESS)

    // The most frames that one packet can deliver: its own, and those of the packets that waited for it.
    int most_at_once() const {
        size_t early = flow.early_blocks * (dgram::EarlyBlock::room / sizeof(dgram::Piece));
        return static_cast<int>(dgram::most_packet / dgram::next_frame_bytes + early);
    }
};

class DgramPath final : public NetworkPath, private dgram::FlowOwner {
public:
    // Finds the name of a peer's endpoint, when it is needed. After an error of the class `pending`, the name
    // is requested again later; any other error makes the peer a failed one.
    using FindName = std::function<Error(uint32_t peer, std::string &name)>;

    // `own` is the name of this process, which `processes` contains too. `epoch` is not 0 and differs from
    // the epochs of earlier processes with this name. `io` and `processes` must outlive the path.
    DgramPath(PacketIo &io, ProcessName own, const Processes &processes, uint32_t epoch, const Crc32c &crc,
              const DgramLimits &limits, FindName find);
    ~DgramPath() override;

    // From now on, peers that do not answer datagrams are also checked through `liveness`, which must live as
    // long as the path is used.
    void use(Liveness &liveness) { liveness_ = &liveness; }

    void grow() override {
        // If memory runs out, the remaining processes cannot be reached.
        while (peers_.size() < processes_.count() && peers_.append()) {
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
    bool all_acknowledged() override;
    void more_follows() override { begin_series(true); }
    void flush() override { begin_series(false); }
    int poll(Sink &sink, int budget, uint64_t now_ns) override;
    void prepare_to_sleep(bool process_sleeps) override;
    PathActivity activity() const override;
    uint64_t deadline_ns() const override;
    std::string describe() const override;
    void report() const override;
    // Informs all peers that this process ends.
    void close() override;

    // Does a peer live, and can it be reached? ask() sends a probe to the peer, unless the name of the peer's
    // endpoint cannot be found yet. has_answered(): has the peer ever answered a packet?
    void ask(uint32_t peer);
    bool has_answered(uint32_t peer) const { return peers_[peer] && peers_[peer]->flow.trip().known(); }
    bool is_lost(uint32_t peer) const { return peers_[peer] && peers_[peer]->lost; }
    // The addresses between which packets to the peer travel, for reports; empty if they are not known, or if
    // the peer has failed.
    std::string ends(uint32_t peer);

    struct RoundTrips {
        uint64_t mean_ns = 0, least_ns = 0;  // of all peers; 0: none has answered yet
    };
    // These functions, up to peer_count(), may be called by any thread. They return the counts of packets, of
    // messages, and of one peer, and the round trips. known(): the number of peers to which something was
    // sent or from which something arrived. peer_count(): the number of processes in the table.
    const dgram::FlowCounts &counts() const { return home_.counts; }
    const NetworkCounts &message_counts() const { return counts_; }
    dgram::PeerCounts counts_of(uint32_t peer) const;
    RoundTrips round_trips() const;
    size_t known() const { return known_; }
    uint32_t peer_count() const { return static_cast<uint32_t>(peers_.size()); }
    // The number of peers with something under way.
    size_t active() const { return active_.size(); }

private:
    // An envelope whose beginning has arrived.
    struct Arriving {
        Envelope envelope;
        Assembly assembly;
    };
    // What is known about the route to a peer. known: the route is proven to work, or the endpoint cannot
    // find another route. sought: the route is unproven; there is no other one to try, or the peer is within
    // this host. sought_among_several: the route is unproven, and leads to one of several addresses.
    enum class RouteState : uint8_t { known, sought, sought_among_several };
    struct Peer {
        Peer(dgram::FlowHome &home, uint32_t number, uint32_t epoch, uint64_t to, size_t largest)
            : flow(home, number, epoch, largest), destination(to) {}

        dgram::Flow flow;
        uint64_t destination;
        dgram::EnvelopeLog log;
        std::unique_ptr<Arriving> arriving;
        int bulk_under_way = 0;
        dgram::Series series;
        uint32_t place = not_active;  // index in the list of active peers
        // Quarters of LANYARD_PEER_TIMEOUT for which the peer has been silent although it lives, counted up
        // to four.
        uint8_t quarters = 0;
        bool due = false;  // the peer is in due_
        bool lost = false;
        RouteState route = RouteState::sought;
    };
    struct Outbox;
    static constexpr uint32_t not_active = UINT32_MAX;

    dgram::Logged logged(dgram::Flow &flow, uint64_t sequence) override;
    const std::byte *bulk_bytes(dgram::Flow &flow, uint64_t token, uint64_t offset, std::byte *scratch,
                                size_t size) override;
    void delivered(dgram::Flow &flow, uint64_t below) override;
    void bulk_delivered(dgram::Flow &flow, uint64_t token) override;
    void envelope(dgram::Flow &flow, const dgram::Piece &piece, const std::byte *payload) override;
    void bulk(dgram::Flow &flow, const BulkHeader &header, const std::byte *payload, size_t size) override;
    dgram::PeerState peer_state(dgram::Flow &flow) override;
    uint32_t serial_of(uint32_t peer) const override {
        return static_cast<uint32_t>(processes_.name(peer).serial());
    }
    void silent(dgram::Flow &flow, bool now) override;
    void ended(dgram::Flow &flow, dgram::FlowEnd how) override;

    // The answer to a send to a peer with which there is no contact. `full`: the name cannot be found yet, or
    // the peer's failure is still to be reported. `done`: the failure was reported.
    Sent without_contact(uint32_t peer) const {
        return !peers_[peer] || reports_.holds_loss_of(peer) ? Sent::full : Sent::done;
    }
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
    void learn_route(Peer &peer, const PacketIo::Arrived &received);
    void send_by_other_routes(const Peer &peer, PacketIo::Outgoing packet);
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
    Growing<Published<Peer>> peers_;  // indexed by peer; null: there was no contact yet
    Tally<size_t> known_;
    NetworkCounts counts_;
    std::vector<uint32_t> active_;
    // The active peers to which something may have to be sent now, apart from expired timers.
    std::vector<uint32_t> due_;
    size_t turn_ = 0;         // decides which peer is first when all are due
    size_t undelivered_ = 0;  // number of envelopes in all logs
    size_t assembling_ = 0;   // number of envelopes that have arrived in part
    BytePool log_pool_;       // memory of all logs
    dgram::BulkSlots bulk_;
    dgram::PacketBatching batching_;
    Reports reports_;  // bulk that has been delivered, peers that have failed
    std::unique_ptr<Outbox> outbox_;
    Sink *sink_ = nullptr;  // set during poll()
    int told_ = 0;          // frames delivered to the sink in this poll
    uint64_t now_ns_ = 0, next_ns_ = no_deadline, ask_at_ns_ = 0;
    uint64_t look_at_ns_ = 0;  // when look_after_peers() is due
    // If nothing arrives until this time, probably no peer waits for an answer any more; memory is then
    // trimmed.
    uint64_t quiet_at_ns_ = no_deadline;
    uint32_t wakeful_polls_ = 0;  // polls that found something since this process last slept
    uint64_t heard_all_ns_ = 0;   // the time of the last call of FlowHome::heard_all()
    Liveness *liveness_ = nullptr;
    const bool seeks_routes_;  // the endpoint can note where packets come from; it does so only for a while
    bool notes_origins_ = false;
    uint64_t note_origins_until_ns_ = 0;
    uint32_t routes_known_ = 0;  // number of peers with a known route
    int trouble_ = 0;          // an errno: why the endpoint can no longer be used
    int cut_off_ = 0;          // the same errno, until the next poll has reported the failure
    bool full_ = false;        // the endpoint had no room for the last packets
    bool leaving_ = false;
    bool told_silence_ = false;  // the silence of a peer that lives has been reported, which happens once
    bool more_ = false;          // more had arrived than the last poll's budget allowed to read
    bool to_write_ = false;      // something was sent inside poll(), or is held back
    bool postponed_ = false;     // write_out() is postponed for the peer whose packets arrived last
    CounterSource counted_[3]{
        {network_counters(), counts_}, {flow_counters(), home_.counts}, {datagram_counters(), *this}};
};

}  // namespace lanyard
