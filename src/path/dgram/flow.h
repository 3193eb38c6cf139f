// A Flow exchanges envelopes and bulk with one peer, reliably, over packets that may be lost, duplicated,
// reordered and damaged. It is a pure state machine: packets and `now` go in, packets and deadline_ns() come
// out. It uses no sockets and no clock, and takes memory only from the slabs of FlowHome (flow_home.h).
//
//      log_grew, send_bulk                                            Owner::envelope, bulk
//            |                                                             ^
//      [ cut into frames ] -> compose() -> packets -> received() -> [ copies dropped, envelopes sorted ]
//            ^    |                                                        |
//   lost packets' contents                                             Arrivals
//            |    v                                                        |
//      [ SentPackets ] <- received() <- packets <- compose() <- acknowledgement, granted window
//            |
//   Owner::delivered, bulk_delivered
//
// Rules, and why nothing is lost, duplicated or reordered:
// 1. Each packet has a number of its own, even if it repeats the contents of an earlier packet. The receiver
//    accepts a number once (arrivals.h), so a copy has no effect. The contents of a lost packet are cut anew
//    into packets with new numbers. An answer therefore always shows which transmission it answers. (A packet
//    contains 31 bits of the number. To be taken for a new packet, a copy would have to arrive after 2^30
//    other packets, which takes minutes on the fastest network.)
// 2. Every byte of an envelope or of bulk that was sent and is not acknowledged is in exactly one record,
//    outstanding or lost (sent.h). A record leaves the list of outstanding packets when its packet is
//    acknowledged or given up, and the list of lost packets when its contents are in another packet. Nothing
//    is forgotten, and bulk has arrived when the acknowledged sizes add up to its size.
// 3. Envelopes with their payload form a sequence of positions (number, offset). The receiver delivers only
//    the bytes at the position that it expects, and keeps those that arrive ahead of it (early.h). Each byte
//    is delivered exactly once and in order, no matter how the pieces were cut. An acknowledgement names the
//    envelope that the receiver expects; the owner may drop the part of its log before that envelope. Bulk is
//    delivered as it arrives. A range of bulk may arrive twice if a packet was given up too early.
// 4. A packet is accepted if its check is right, its proof is made with the job's secret for this direction,
//    and its epochs are those of this flow. Each side has an epoch of its own, a number that distinguishes
//    this flow from earlier ones. The first packets of a side (introducing packets) state its epoch and
//    already carry data. They state 0 as the other side's epoch until a packet of that side has arrived. An
//    introducing packet may state, as this side's epoch, a number that is neither 0 nor the present epoch.
//    Such a packet is from a time before this flow. It is dropped, and its sender is informed by a refusal
//    (`end`, refused), unless the packet has no number. The refusal names the epoch that it refuses, which
//    only a process that has seen such a packet can know. A packet is also dropped if it states another epoch
//    of the peer than the known one; if it refuses the known one, it ends the flow. (An eavesdropper could
//    repeat an introducing packet to a flow created later, but no flow is created twice in a job.)
//    A usual packet names no epoch; its proof covers both epochs. A side sends usual packets once an accepted
//    packet has named or proven its own epoch. The peer had received that epoch then and keeps it as long as
//    the peer's flow lasts, so the peer can verify the proof, no matter how packets are reordered. A peer
//    that has lost its flow has neither epoch. Such a peer takes a usual packet for a stranger's and does not
//    answer. This side then probes, and while probes are not answered all its packets are introducing ones,
//    so that the peer can refuse. Introducing packets that arrive late are still valid.
// 5. Something always happens next: an outstanding packet is acknowledged, or given up by order, by time or
//    by the probe timer (sent.h). The contents of a packet that is given up are sent again at once if nothing
//    else is outstanding. A probe requests an acknowledgement, since the peer may only be late; the
//    acknowledgement shows what is lost. If a single packet is outstanding, the probe carries the contents of
//    that packet, since no other packet can be the lost one. The probe timer doubles up to longest_probe_ns,
//    so a partition that heals is noticed within that time. After two probes without an answer, all
//    outstanding packets are given up, since the receiver may have room only for what it expects next. Time
//    counts only up to the moment at which the owner last found nothing more to read (heard_until_ns): a
//    process that reads late does not mistake its own delay for a loss. A peer has failed if nothing proven
//    has arrived from it for peer_timeout_ns although something is outstanding; this is reported once. If the
//    owner has found that the peer lives (for example, it computes), the flow waits for the peer.
// 6. An acknowledgement is state, not an event: the newest one states everything that the earlier ones
//    stated. A packet that contains only an acknowledgement has no number and is not answered.
// 7. There is no deadlock: the receiver always has room for the envelope that it expects, and lost envelopes
//    are sent again in the order of delivery. A sender may have one packet in flight whatever its window is,
//    but sends no further packet that would exceed the window.
//
// Limits: congestion.h decides how many bytes may be in flight and how fast they leave, never more than the
// receiver grants (grants.h). packet_size.h decides how long packets are.
// Memory: a known peer costs this object. While something is under way, the flow also has an ActiveState and
// records, which are returned when everything is acknowledged in both directions.
// Errors: none are returned. A packet that is wrong in any way is dropped and counted. FlowOwner::ended
// reports the end of a flow, once, unless close() has ended it.
// Thread rule: the owner of the engine; counts() by any thread.
#pragma once

#include "path/dgram/congestion.h"
#include "path/dgram/flow_home.h"
#include "path/dgram/packet_size.h"
#include "path/dgram/round_trip.h"

namespace lanyard::dgram {

// A packet to be sent: `size` bytes at `buffer`, then `tail_size` bytes at `tail`. The buffer belongs to the
// caller, who sets `buffer` before compose(). The tail belongs to the owner and is valid until the next call
// of the flow's received(), or until the flow ends, which may happen inside the next compose(). The caller
// then drops the packets that it has not sent.
struct OutPacket {
    std::byte *buffer;
    size_t size;
    const std::byte *tail;
    size_t tail_size;
    uint64_t number;
    bool acknowledges;
    bool probes;  // contains a probe that ask() or the probe timer has requested
    // Nothing more is to be sent now, and something is outstanding. The caller may then stop calling
    // compose() although it has not returned false.
    bool last;
};

class Flow {
public:
    enum class Outcome { taken, copy, dropped };

    // `epoch` is not 0, and no earlier flow between the two processes had it. `largest`: the maximum length
    // of a packet to this peer, from least_packet to most_packet. `home` must outlive the flow, and has the
    // job's secret already.
    Flow(FlowHome &home, uint32_t peer, uint32_t epoch, size_t largest);
    // Ends the flow without informing the peer or calling the owner.
    ~Flow() {
        over_ = true;
        release();
    }
    Flow(const Flow &) = delete;
    Flow &operator=(const Flow &) = delete;

    // The functions up to close() have no effect once the flow is over. They may create something to send, so
    // compose() must be called next.
    //
    // States that the log now holds all envelopes before number `end`, which only grows. The owner keeps the
    // envelopes until delivered().
    void log_grew(uint64_t end);
    // Sends `size` bytes, at least 1, to the receive and offset that `to` names. The flow requests the bytes
    // by token, and they must not change until bulk_delivered().
    void send_bulk(const BulkHeader &to, uint64_t size, uint64_t token);
    // Requests a sign of life from the peer, even if nothing is outstanding.
    void ask();
    // If an acknowledgement is due later, makes the next compose() send it at once.
    void answer();
    // Informs the peer, once and without an answer, that nothing more follows. When this packet has been
    // composed, the flow is over.
    void close();

    // Takes a packet that names this flow's peer as its sender (sender_of), and delivers its contents to the
    // owner. The packet's bytes are read only during the call. `taken`: the packet is new, or has no number.
    // `copy`: it was received before. `dropped`: it is not valid, or there is no room for it.
    Outcome received(std::span<const std::byte> packet, uint64_t now_ns);
    // Composes the next packet that may be sent now; returns false if there is none. First does what is due
    // by time. Must be called until it returns false, after received(), log_grew() and send_bulk(), and at
    // deadline_ns(). `packet.buffer` has room for the largest packet.
    bool compose(OutPacket &packet, uint64_t now_ns);
    // Takes back the packet that was composed last, because it could not be sent. Its envelopes, bulk and
    // acknowledgement wait for the next compose(), and so does a probe that was requested. An `end` is not
    // sent again. Several packets are taken back in the reverse order, with nothing received or composed in
    // between.
    void take_back(const OutPacket &packet, uint64_t now_ns);
    // When compose() must be called even if nothing arrives; 0: at once; UINT64_MAX: not before another
    // function of the flow is called.
    uint64_t deadline_ns() const;
    // Is there nothing to send at once? That is so if no data wait to be sent, not even data that the windows
    // do not allow yet, and if no answer is due.
    bool may_wait(uint64_t now_ns) const {
        return !active() || (has_said_all() && current().arrivals.due_ns() > now_ns);
    }

    // Reads the sender that a packet names. This name is not proven yet. Returns false if the packet is too
    // short to name one.
    static bool sender_of(std::span<const std::byte> packet, uint32_t &sender) {
        return read_sender(packet, sender);
    }
    // Is the packet an introducing one, proven to be from the sender that it names, for this process, and of
    // this job? Used for packets of senders that have no flow yet; received() checks all other packets.
    static bool is_proven(const FlowHome &home, std::span<const std::byte> packet);

    uint32_t peer() const { return peer_; }
    // Does the flow have an ActiveState? An inactive flow needs no calls.
    bool active() const { return state_ != idle; }
    // Is an answer overdue, so that the flow has probed?
    bool asks_again() const { return active() && current().probes > 0; }
    bool over() const { return over_; }
    // The time of the peer's last sign of life: a valid packet of this flow arrived, or the owner found that
    // the peer lives (FlowOwner::peer_state). 0: there was none yet.
    uint64_t heard_ns() const { return heard_ns_; }
    const RoundTrip &trip() const { return trip_; }
    const Congestion &congestion() const { return congestion_; }
    // The number of bytes that the peer allows to be in flight; no_limit: any number.
    uint32_t granted() const { return granted_; }
    // Ends the flow for the reason `how` and calls ended(). The owner calls this if it has found the reason
    // itself, and never from inside its FlowOwner functions. It calls compose() next, which releases the
    // flow's ActiveState.
    void end(FlowEnd how);
    // States that the peer is within this host. Must be called before anything is sent or received.
    void set_near() { near_ = true; }
    // Sets the endpoint's present limit of a packet's length.
    void set_largest(size_t bytes) { size_.set_limit(bytes); }
    const PacketSize &packet_size() const { return size_; }
    // Called by any thread.
    PeerCounts counts() const;

private:
    static constexpr uint32_t idle = UINT32_MAX;
    static constexpr uint64_t never = UINT64_MAX;

    uint32_t serial() const { return home_.owner.serial_of(peer_); }

    // flow.cc
    ActiveState &activate();
    ActiveState &current() const { return home_.active_states.at(state_); }
    void release();
    bool nothing_under_way() const;
    void look_at_time(uint64_t now_ns);
    void find_lost(ActiveState &state, uint64_t now_ns);
    void give_up_oldest(ActiveState &state, uint64_t now_ns);
    void tell_silence(ActiveState &state, uint64_t now_ns);
    uint64_t probe_due_ns() const;
    uint64_t silent_at_ns() const;
    bool is_lost(uint64_t now_ns);

    // flow_receiving.cc
    // What the first pass over a packet has found. A later pass is skipped if there is nothing for it in the
    // packet.
    struct Contents {
        bool moves_on = false;  // contains `move_on` frames
        bool ahead = false;     // contains envelopes that perhaps cannot all be delivered at once
    };
    bool is_proven(PacketHeader &header) const;
    bool is_for_us(const PacketHeader &header, std::span<const std::byte> frames);
    bool is_refusal(std::span<const std::byte> frames) const;
    uint64_t number_of(const PacketHeader &header) const;
    bool sensible(const PacketHeader &header, uint64_t number, std::span<const std::byte> frames,
                  Contents &contents) const;
    void meet(const PacketHeader &header);
    AnswerLimits answer_limits() const;
    Outcome take(uint64_t number, std::span<const std::byte> frames, const Contents &contents, size_t bytes,
                 uint64_t now_ns);
    bool make_room(std::span<const std::byte> frames);
    void count_number(uint64_t number, bool fresh);
    Grants &grants() const { return near_ ? home_.near_grants : home_.grants; }
    Position expected() const { return {expected_, expected_offset_}; }
    Piece piece_of(const Frame &frame) const;
    void deliver(Piece piece, const std::byte *payload);
    void acknowledged(const Acknowledgement &acknowledgement, uint64_t now_ns);
    void bulk_arrived(uint32_t index, uint64_t size);

    // flow_sending.cc
    PacketHeader introduction(uint32_t to_epoch) const;
    PacketHeader next_header() const;
    SentPacket *first_lost(ActiveState &state) const;
    bool must_move_peer_on(const ActiveState &state) const;
    bool has_said_all() const;
    bool has_data(ActiveState &state) const;
    bool may_send(ActiveState &state) const;
    uint64_t line_free_ns(const ActiveState &state) const { return std::max(state.pace_ns, state.burst_ns); }
    void pace(ActiveState &state, size_t bytes, uint64_t now_ns);
    size_t left_of(const ActiveState &state, size_t most) const;
    size_t next_bytes(const ActiveState &state) const;
    void grant(uint32_t window) {
        granted_ = window;
        congestion_.granted(window != no_limit);
    }
    uint32_t window() const { return std::min(congestion_.window(), granted_); }
    void compose_acknowledgement(FrameWriter &writer, uint64_t now_ns);
    bool compose_end(OutPacket &packet, ActiveState &state);
    void fill(FrameWriter &writer, OutPacket &packet, SentPacket &record);
    uint64_t cut_envelopes(FrameWriter &writer, OutPacket &packet, SentPacket &record, Position &from,
                           const Position &until);
    size_t cut_envelope(FrameWriter &writer, OutPacket &packet, Position &at, const Position &until,
                        bool &follows);
    size_t size_to_say(const FrameWriter &writer, size_t head, size_t size, const Position &behind) const;
    void cut_bulk(FrameWriter &writer, OutPacket &packet, SentPacket &record);
    bool wants_answer(ActiveState &state, size_t room) const;
    void finish(OutPacket &packet, PacketHeader header, uint64_t number);
    void add_payload(FrameWriter &writer, OutPacket &packet, const std::byte *bytes, size_t size);

    FlowHome &home_;
    uint32_t state_ = idle;
    const uint32_t peer_, epoch_;
    uint32_t peer_epoch_ = 0;
    uint64_t proof_out_ = 0, proof_in_ = 0;  // proofs of usual packets, once the peer's epoch is known
    // Sending:
    Tally<uint64_t> next_number_;
    uint64_t log_end_ = 0, delivered_ = 0;
    PacketSize size_;
    bool over_ : 1 = false;
    bool introduced_ : 1 = false;  // the peer knows this side's epoch
    bool near_ : 1 = false;        // the peer is within this host
    uint32_t granted_ = no_limit;
    Grants::Sender sender_;  // what Grants keeps about this peer as a sender
    Congestion congestion_;
    RoundTrip trip_;
    Tally<uint32_t> given_up_, too_early_;
    // Receiving. named_: the highest number that the peer is known to have used. received_: how many numbered
    // packets were accepted. next_arrival_: Arrivals::next(), kept while the flow has no ActiveState.
    Tally<uint32_t> named_, received_;
    uint64_t next_arrival_;
    uint64_t expected_ = 0;
    uint32_t expected_offset_ = 0, expected_total_ = 0;
    uint64_t heard_ns_ = 0;
};
static_assert(sizeof(Flow) <= 200);

}  // namespace lanyard::dgram
