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

#include "base/tally.h"
#include "net/secret.h"
#include "path/dgram/arrivals.h"
#include "path/dgram/congestion.h"
#include "path/dgram/early.h"
#include "path/dgram/grants.h"
#include "path/dgram/packet.h"
#include "path/dgram/packet_size.h"
#include "path/dgram/round_trip.h"
#include "path/dgram/sent.h"

namespace lanyard::dgram {

class Flow;

enum class FlowEnd : uint8_t { silent = 1, refused, closed, gone, cut_off };  // closed: by the peer; gone: as the owner knows; cut off: this process
// What the owner knows of a peer that does not answer.
enum class Life : uint8_t { unknown, lives, gone };

// An envelope that the owner keeps until it is delivered.
struct Logged {
    const Envelope *envelope;
    const std::byte *payload;
    uint32_t size;
};

// Who has the bytes, above. Called from inside compose() and received(); may call log_grew() and send_bulk() then, nothing else.
class FlowOwner {
public:
    virtual ~FlowOwner() = default;
    // One of the log: sequence is at least what was last told by delivered(), and less than what log_grew() said.
    virtual Logged logged(Flow &flow, uint64_t sequence) = 0;
    // `size` bytes of what send_bulk() was given, from `offset` of that on: where they lie, or copied to `scratch`.
    virtual const std::byte *bulk_bytes(Flow &flow, uint64_t token, uint64_t offset, std::byte *scratch, size_t size) = 0;
    // The peer's library has all envelopes before this one.
    virtual void delivered(Flow &flow, uint64_t below) = 0;
    // It has all of this; once for each send_bulk().
    virtual void bulk_delivered(Flow &flow, uint64_t token) = 0;
    // The next bytes of the envelopes from the peer, in order; the payload may come in several pieces, the envelope is in the first one.
    virtual void envelope(Flow &flow, const Piece &piece, const std::byte *payload) = 0;
    virtual void bulk(Flow &flow, const BulkHeader &header, const std::byte *payload, size_t size) = 0;
    // The peer has not answered for a quarter of the time after which it counts as lost. Asked again, often.
    virtual Life life(Flow &) { return Life::unknown; }
    // For long nothing has come although something is outstanding; or after that something has come again.
    virtual void silent(Flow &, bool /*now*/) {}
    // Once. What was not delivered will not be, and is not asked for again.
    virtual void ended(Flow &flow, FlowEnd how) = 0;
};

struct FlowLimits {
    uint64_t peer_timeout_ns = 60'000'000'000;
    uint64_t first_probe_ns = 20'000'000;     // while no round trip is known
    uint64_t longest_probe_ns = 500'000'000;
    uint64_t silent_after_ns = 2'000'000'000;  // a peer counts as silent, which is told and changes nothing
    uint32_t early_blocks = 512;              // of 2 KiB, for envelopes of one flow that came before their turn
    uint64_t first_number = 1;                // of packets, on both sides; another lets tests see numbers go round
    AnswerLimits answer;
    CongestionLimits congestion;
    GrantLimits grants;
};

// What happened, of all flows of a process. For any thread to read.
struct FlowCounts {
    using Count = Tally<uint64_t>;

    Count packets_out, bytes_out, numbered_out;
    Count acknowledgements_out, acknowledgements_carried;    // alone in their packet; in one that has a number
    Count packets_in, bytes_in;                              // believed
    Count named, come;                                       // numbers that peers are known to have given, and those of them that were taken
    Count lost_by_order, lost_by_time, lost_by_probe;        // packets that were given up, so that what was in them was sent again
    Count given_up_too_early;                                // of these: acknowledged after all
    Count probes, silences, taken_back;
    Count copies, beyond, no_room;                           // numbered packets that were dropped, though proven
    Count garbage, damaged, strangers, stale, malformed;     // dropped: no packet; wrong check; unproven; of another epoch; senseless
    Count refusals;

    uint64_t given_up() const { return lost_by_order + lost_by_time + lost_by_probe; }
};

// The same of one peer, as much of it as few bytes hold; counts are modulo 2^32.
struct PeerCounts {
    uint32_t sent = 0, given_up = 0, too_early = 0;
    uint32_t come = 0, missing = 0;  // of the packets that the peer has numbered
    uint64_t round_trip_ns = 0, least_round_trip_ns = 0;  // 0: not known
};

// What a flow has while something is under way.
struct Traffic {
    explicit Traffic(uint64_t next_number, uint64_t next_arrival, const Position &to_send)
        : arrivals(next_arrival), unsent(to_send), peer_next(next_number) {}

    SentPackets sent;
    Arrivals arrivals;
    EarlyEnvelopes early;
    Position unsent;        // the first that no packet has had yet
    uint64_t unsent_bytes = 0;  // of envelopes and payload from there on, as frames one behind the other
    uint64_t peer_next;     // all our packets before this have come to the peer, or it knows they will not
    uint64_t last_sent_ns = 0, waiting_since_ns = 0;
    uint64_t pace_ns = 0;   // when the line would be free again
    uint64_t burst_ns = 0;  // when the next burst may go
    uint32_t first_bulk = UINT32_MAX, last_bulk = UINT32_MAX;  // items with bytes that no packet has had yet
    uint32_t probes = 0;    // in a row
    bool probe_wanted = false, end_wanted = false;
    bool silent = false;  // which the owner was told
    uint32_t refused_epoch = 0;  // that was said to be ours
    uint32_t refused_from = 0;   // the epoch of who said so
};

// What all flows of a process share.
struct FlowHome {
    FlowHome(uint32_t own_number, const Secret &jobs_secret, const Crc32c &check, const FlowLimits &limit, FlowOwner &owns)
        : own(own_number), secret(jobs_secret), crc(check), limits(limit), owner(owns), grants(limit.grants), near_grants(limit.grants) {}

    // Of a packet that names no other process of the job as its sender.
    void count_astray(std::span<const std::byte> packet) {
        PacketHeader header;
        counts.strangers += read(packet, header);
    }
    // Counts what has no header, or a wrong check.
    bool read(std::span<const std::byte> packet, PacketHeader &header) {
        if (read_header(crc, packet, header)) return true;
        ++(packet.size() < usual_header_bytes ? counts.garbage : counts.damaged);
        return false;
    }

    // What is read now has waited for at most so long.
    uint64_t away_ns(uint64_t now_ns) const { return now_ns - std::min(now_ns, empty_ns); }
    // All that had come by then was given to received(), or, where it does not become empty, much of it.
    void heard_all(uint64_t until_ns, bool is_empty = true) {
        heard_until_ns = until_ns;
        if (is_empty) empty_ns = until_ns;
    }

    // Memory of what is under way back to the system, where nothing is.
    void give_back() {
        sent.give_back();
        bulk.give_back();
        early.give_back();
        traffic.give_back();
    }

    const uint32_t own;  // process number
    Secret secret;  // before the first flow is made
    const Crc32c crc;
    const FlowLimits limits;
    bool crowded = false;  // processes share processors: a peer takes as long to look as it has to wait for one
    FlowOwner &owner;
    uint64_t heard_until_ns = UINT64_MAX;  // as heard_all() was told; UINT64_MAX: nobody tells
    uint64_t empty_ns = UINT64_MAX;        // when nothing more was there
    FlowCounts counts;
    Grants grants, near_grants;  // to senders by the line, and to those within this host, which do not share it
    SentPackets::Records sent;
    Slab<BulkItem> bulk;
    EarlyEnvelopes::Blocks early;
    Slab<Traffic> traffic;
};

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
    Tally<uint32_t> named_, come_;  // the last number that the peer is known to have given; how many were taken
    uint64_t next_arrival_;
    uint64_t expected_ = 0;
    uint32_t expected_offset_ = 0, expected_total_ = 0;
    uint64_t heard_ns_ = 0;
};
static_assert(sizeof(Flow) <= 200);

}  // namespace lanyard::dgram
