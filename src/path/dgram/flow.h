// A flow: what two processes need to exchange envelopes and bulk reliably over packets that may be lost, doubled, overtaken and damaged. A pure state
// machine: packets and `now` in, packets and deadline_ns() out; no sockets, no clock, and memory only from the slabs it is given.
//
//      log_grew, send_bulk                                            Owner::envelope, bulk
//            |                                                             ^
//      [ cut into frames ] -> compose() -> packets -> received() -> [ copies dropped, envelopes sorted ]
//            ^    |                                                        |
//   lost packets' contents                                             Arrivals
//            |    v                                                        |
//      [ SentPackets ] <- received() <- packets <- compose() <- acknowledgement, window for bulk
//            |
//   Owner::delivered, bulk_delivered
//
// Rules, and why nothing is lost, doubled or disordered
// 1. Each packet has a number of its own, however often its contents are sent. The receiver takes a number once (arrivals.h), so a copy does
//    nothing. What was in a lost packet is cut anew into packets with new numbers: so an answer always says which sending it answers. (31 bits of
//    the number travel: a copy would have to come after 2^30 others to be taken for a new one, which is minutes on the fastest line.)
// 2. Every byte of an envelope and of bulk that was sent and is not acknowledged is in exactly one record: outstanding or lost (sent.h). A record
//    leaves the first list when its packet is acknowledged or given up, the second when its contents are in another: nothing is forgotten, and
//    bulk has come when the sum of what was acknowledged of it is its size.
// 3. Envelopes with their payload are a sequence of positions (number, offset); the receiver delivers the bytes at the position it expects and no
//    others, keeping what is ahead (early.h): each exactly once, in order, whatever the pieces. An acknowledgement names the envelope it expects,
//    below which the owner may forget its log. Bulk is delivered as it comes; a range may come twice where a packet was given up too early.
// 4. A packet is believed when its check is right, its proof is that of the job's secret for this direction, and its epochs are those of this flow:
//    each side draws its epoch when the flow is made, and its first packet says it, with data in it already; the other side's is 0 there until
//    a packet of it has come. An introducing packet to another epoch than ours is of a time before this flow: it is dropped, and its sender told so
//    (`end`, refused; it names the epoch that it refuses, which only who has seen such a packet knows). One from another epoch than the known
//    one is dropped. (Who listens could repeat a first packet to a flow made later: no flow is made twice in a job.)
//    A usual packet names no epoch, its proof is of both. It is sent once a believed packet has named, or proven, our epoch: the peer had it then,
//    and keeps it as long as its flow, so it knows the proof, whatever overtakes what on the way. Who has forgotten us knows neither: to it such a
//    packet is a stranger's, and is not answered. Then we probe; and while probes are not answered all packets introduce us again, so that it can
//    refuse. Introducing packets that come late are as good as ever.
// 5. Something is always under way: an outstanding packet is acknowledged, or given up by order or time, or by the probe timer; what is given up
//    is sent again at once where nothing else is outstanding. A probe asks the peer what it has, as it may only be late; the answer shows what is
//    lost. Is a single packet outstanding, the probe has its contents: it can be no other. The timer doubles up to longest_probe_ns, so a
//    partition that heals is noticed that soon. After two probes without an answer all that is outstanding is given up, as the receiver may lack
//    room for anything but what it expects next. Time is judged by what had come when the owner last looked (heard_until_ns): who was late to
//    look takes its own delay for nobody's loss. A peer from which nothing proven has come for peer_timeout_ns although something is outstanding
//    is lost: told once. Who lives, as the owner may know of a process that computes, is waited for.
// 6. An acknowledgement is state, not an event: the newest says all the earlier ones said. Alone it travels in a packet without number, unanswered.
// 7. No deadlock: the receiver always has room for the envelope it expects, and lost envelopes go again in that order. A sender never has
//    more than one packet in flight beyond a window, but always may have one.
//
// How much: congestion.h says how many bytes may be on their way, and how fast they leave; never more than the receiver grants (grants.h);
// packet_size.h how long packets are.
// Memory: this object for a known peer; a Traffic and records while something is under way, given back when all is acknowledged both ways.
// Thread rule: the owner of the engine.
#pragma once

#include "path/dgram/congestion.h"
#include "path/dgram/flow_home.h"
#include "path/dgram/packet_size.h"
#include "path/dgram/round_trip.h"

namespace lanyard::dgram {

// A packet to be sent: `size` bytes at `buffer`, which is the caller's, then `tail_size` bytes at `tail`, which is the owner's and valid until the
// next call of the flow's received().
struct OutPacket {
    std::byte *buffer;
    size_t size;
    const std::byte *tail;
    size_t tail_size;
    uint64_t number;
    bool acknowledges;
    bool last;  // nothing more is to be sent now, and something is outstanding: compose() need not be called until it is false
};

class Flow {
public:
    enum class Came { taken, copy, dropped };

    // `epoch` is not 0, and no earlier flow between the two had it. `largest`: bytes of a packet to this peer.
    Flow(FlowHome &home, uint32_t peer, uint32_t epoch, size_t largest);
    ~Flow() {
        over_ = true;
        release();
    }
    Flow(const Flow &) = delete;
    Flow &operator=(const Flow &) = delete;

    // The log holds the envelopes before this one now.
    void log_grew(uint64_t end);
    // Sends `size` bytes, at least 1, to this place; they are asked for by token, and must not change until bulk_delivered().
    void send_bulk(const BulkHeader &to, uint64_t size, uint64_t token);
    // Asks the peer whether it lives, though nothing is outstanding.
    void ask();
    // Tells the peer at the next compose() what has come, should something be due to be told later.
    void answer();
    // Tells the peer, once and without an answer, that nothing more comes; when composed, this flow is over.
    void close();

    // A packet that names this flow's peer as its sender (sender_of).
    Came received(std::span<const std::byte> packet, uint64_t now_ns);
    // The next packet that may be sent now; false: none. Does what time asks for first. To be called until it is false after received(), log_grew()
    // and send_bulk(), and at deadline_ns(); `packet.buffer` has room for the largest.
    bool compose(OutPacket &packet, uint64_t now_ns);
    // The packet that was composed last could not be sent: its contents wait for the next compose().
    void take_back(const OutPacket &packet, uint64_t now_ns);
    uint64_t deadline_ns() const;
    // Is there nothing to send at once: neither data, whatever windows allow, nor an answer that is due?
    bool may_wait(uint64_t now_ns) const { return !active() || (has_said_all() && current().arrivals.due_ns() > now_ns); }

    // Of a packet, unproven; false: it is too short to have one.
    static bool sender_of(std::span<const std::byte> packet, uint32_t &sender) { return read_sender(packet, sender); }
    // Is it from there, for this process, and of this job? For packets of who is not known yet; those of others are checked when received.
    static bool is_proven(const FlowHome &home, std::span<const std::byte> packet);

    uint32_t peer() const { return peer_; }
    // Has a Traffic; the others need neither calls nor thoughts.
    bool active() const { return traffic_ != idle; }
    // As no answer has come in time?
    bool asks_again() const { return active() && current().probes > 0; }
    bool over() const { return over_; }
    // When something proven last came; 0: never.
    uint64_t heard_ns() const { return heard_ns_; }
    const RoundTrip &trip() const { return trip_; }
    const Congestion &congestion() const { return congestion_; }
    // Bytes that the peer lets be on their way; no_limit: any.
    uint32_t granted() const { return granted_; }
    // It is over, as the owner knows.
    void end(FlowEnd how);
    // The peer is within this host. Before anything is sent or received.
    void set_near() { near_ = true; }
    // As the endpoint knows it now.
    void set_largest(size_t bytes) { size_.set_limit(bytes); }
    const PacketSize &packet_size() const { return size_; }
    // By any thread.
    PeerCounts counts() const;

private:
    static constexpr uint32_t idle = UINT32_MAX;
    static constexpr uint64_t never = UINT64_MAX;

    uint32_t serial() const { return home_.owner.serial_of(peer_); }

    // flow.cc
    Traffic &traffic();
    Traffic &current() const { return home_.traffic.at(traffic_); }
    void release();
    bool nothing_under_way() const;
    void look_at_time(uint64_t now_ns);
    void find_lost(Traffic &traffic, uint64_t now_ns);
    void give_up_oldest(Traffic &traffic, uint64_t now_ns);
    void tell_silence(Traffic &traffic, uint64_t now_ns);
    uint64_t probe_due_ns() const;
    uint64_t silent_at_ns() const;
    bool is_lost(uint64_t now_ns);

    // flow_receiving.cc
    // Of a packet, so that it need not be read once more for what it does not have.
    struct Contents {
        bool settles = false;  // some number,
        bool ahead = false;    // has envelopes that cannot all be delivered at once
    };
    bool is_proven(PacketHeader &header) const;
    bool is_for_us(const PacketHeader &header, std::span<const std::byte> frames);
    bool is_refusal(std::span<const std::byte> frames) const;
    uint64_t number_of(const PacketHeader &header) const;
    bool sensible(const PacketHeader &header, uint64_t number, std::span<const std::byte> frames, Contents &contents) const;
    void meet(const PacketHeader &header);
    AnswerLimits answer_limits() const;
    Came take(uint64_t number, std::span<const std::byte> frames, const Contents &contents, size_t bytes, uint64_t now_ns);
    bool make_room(std::span<const std::byte> frames);
    void count_number(uint64_t number, bool fresh);
    Grants &grants() const { return near_ ? home_.near_grants : home_.grants; }
    Position expected() const { return {expected_, expected_offset_}; }
    Piece piece_of(const Frame &frame) const;
    void deliver(Piece piece, const std::byte *payload);
    void acknowledged(const Acknowledgement &acknowledgement, uint64_t now_ns);
    void bulk_came(uint32_t index, uint64_t size);

    // flow_sending.cc
    PacketHeader introduction(uint32_t to_epoch) const;
    PacketHeader next_header() const;
    SentPacket *first_lost(Traffic &traffic) const;
    bool must_settle(const Traffic &traffic) const;
    bool has_said_all() const;
    bool has_data(Traffic &traffic) const;
    bool may_send(Traffic &traffic) const;
    uint64_t line_free_ns(const Traffic &traffic) const { return std::max(traffic.pace_ns, traffic.burst_ns); }
    void pace(Traffic &traffic, size_t bytes, uint64_t now_ns);
    size_t left_of(const Traffic &traffic, size_t most) const;
    size_t next_bytes(const Traffic &traffic) const;
    void grant(uint32_t window) {
        granted_ = window;
        congestion_.granted(window != no_limit);
    }
    uint32_t window() const { return std::min(congestion_.window(), granted_); }
    void compose_acknowledgement(FrameWriter &writer, uint64_t now_ns);
    bool compose_end(OutPacket &packet, Traffic &traffic);
    void fill(FrameWriter &writer, OutPacket &packet, SentPacket &record);
    uint64_t cut_envelopes(FrameWriter &writer, OutPacket &packet, SentPacket &record, Position &from, const Position &until);
    size_t cut_envelope(FrameWriter &writer, OutPacket &packet, Position &at, const Position &until, bool &follows);
    size_t size_to_say(const FrameWriter &writer, size_t head, size_t size, const Position &behind) const;
    void cut_bulk(FrameWriter &writer, OutPacket &packet, SentPacket &record);
    bool wants_answer(Traffic &traffic, size_t room) const;
    void finish(OutPacket &packet, PacketHeader header, uint64_t number);
    void add_payload(FrameWriter &writer, OutPacket &packet, const std::byte *bytes, size_t size);

    FlowHome &home_;
    uint32_t traffic_ = idle;
    const uint32_t peer_, epoch_;
    uint32_t peer_epoch_ = 0;
    uint64_t proof_out_ = 0, proof_in_ = 0;  // of usual packets, when the peer's epoch is known
    // sending
    Tally<uint64_t> next_number_;
    uint64_t log_end_ = 0, delivered_ = 0;
    PacketSize size_;
    bool over_ : 1 = false;
    bool introduced_ : 1 = false;  // to the peer, which knows our epoch
    bool near_ : 1 = false;        // the peer, within this host
    uint32_t granted_ = no_limit;
    Grants::Sender sender_;  // the peer, as we receive
    Congestion congestion_;
    RoundTrip trip_;
    Tally<uint32_t> given_up_, too_early_;
    // receiving
    Tally<uint32_t> named_, received_;  // the last number that the peer is known to have given; how many were taken
    uint64_t next_arrival_;
    uint64_t expected_ = 0;
    uint32_t expected_offset_ = 0, expected_total_ = 0;
    uint64_t heard_ns_ = 0;
};
static_assert(sizeof(Flow) <= 200);

}  // namespace lanyard::dgram
