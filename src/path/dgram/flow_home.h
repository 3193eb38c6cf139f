// Declares what all flows of a process share (FlowHome), the limits of flows (FlowLimits), and the functions
// that flows call of their owner (FlowOwner). flow.h has the rules.
// A FlowHome must not move, and outlives its flows. Its constructor sets the owner and the limits.
// Thread rule: the owner of the engine; counts may be read by any thread.
// Tested by: tests/unit/path/dgram/flow_test.cc, tests/sim/flow_test.cc.
#pragma once

#include "net/secret.h"
#include "path/dgram/arrivals.h"
#include "path/dgram/congestion.h"
#include "path/dgram/early.h"
#include "path/dgram/flow_counts.h"
#include "path/dgram/grants.h"
#include "path/dgram/packet.h"
#include "path/dgram/sent.h"

namespace lanyard::dgram {

class Flow;

// How a flow ended. `silent`: the peer has not answered for peer_timeout_ns. `refused`: the peer does not
// know this flow. `closed`: the peer has closed the flow. `gone`: the owner has found that the peer does not
// run or cannot be reached. `cut_off`: this process can no longer use its endpoint.
enum class FlowEnd : uint8_t { silent = 1, refused, closed, gone, cut_off };
// What the owner knows about a peer that does not answer. `gone`: its process has ended, or its host is
// silent.
enum class PeerState : uint8_t { unknown, alive, gone };

// An envelope that the owner keeps until it is delivered.
struct Logged {
    const Envelope *envelope;
    const std::byte *payload;
    uint32_t size;
};

// The code that uses the flows and has the bytes to be sent. Flows call its functions from inside compose()
// and received(). They also call logged() from inside log_grew(), and ended() from inside end(). These
// functions may call log_grew() and send_bulk() of a flow, but no other function.
class FlowOwner {
public:
    virtual ~FlowOwner() = default;
    // Returns an envelope of the log. `sequence` is at least the last value passed to delivered(), and less
    // than the last value passed to log_grew(). The addresses in the result are valid until the next call of
    // the flow's received(), or until ended().
    virtual Logged logged(Flow &flow, uint64_t sequence) = 0;
    // Provides `size` bytes, starting at `offset`, of the bulk that was passed to send_bulk(). Either returns
    // the address of these bytes, valid as in logged(), or copies the bytes to `scratch` and returns
    // `scratch`.
    virtual const std::byte *bulk_bytes(Flow &flow, uint64_t token, uint64_t offset, std::byte *scratch,
                                        size_t size) = 0;
    // Called when the peer's library has all envelopes before the number `below`.
    virtual void delivered(Flow &flow, uint64_t below) = 0;
    // Called when the peer's library has all of this bulk: once for each send_bulk(), unless the flow ends
    // first.
    virtual void bulk_delivered(Flow &flow, uint64_t token) = 0;
    // Delivers the next bytes of the envelopes from the peer, in order. A payload may arrive in several
    // pieces; the first piece contains the envelope. In envelope() and bulk(), `payload` is valid only during
    // the call.
    virtual void envelope(Flow &flow, const Piece &piece, const std::byte *payload) = 0;
    virtual void bulk(Flow &flow, const BulkHeader &header, const std::byte *payload, size_t size) = 0;
    // Does the peer still live? Called repeatedly once the peer has not answered for a quarter of
    // peer_timeout_ns. The answer `alive` counts as a sign of life, and `gone` ends the flow. (If the answer
    // is always `unknown`, the peer counts as failed after peer_timeout_ns.)
    virtual PeerState peer_state(Flow &) { return PeerState::unknown; }
    // Returns the number by which packets and proofs name the peer.
    virtual uint32_t serial_of(uint32_t peer) const { return peer; }
    // Called with `now` true when nothing has arrived from the peer for silent_after_ns although something is
    // outstanding. Called with false when something has arrived again after that.
    virtual void silent(Flow &, bool /*now*/) {}
    // Called once, when the flow has ended for the reason `how`; not called after Flow::close(). What has not
    // been delivered by then will not be delivered, and the flow does not read it again.
    virtual void ended(Flow &flow, FlowEnd how) = 0;
};

struct FlowLimits {
    uint64_t peer_timeout_ns = 60'000'000'000;
    uint64_t first_probe_ns = 20'000'000;  // how long to wait before a probe while no round trip is known
    uint64_t longest_probe_ns = 500'000'000;
    // The same while nothing has been heard of the peer. First contact (first_contact.h) waits for 3 s, and
    // should succeed even if half of the packets are lost.
    uint64_t longest_first_probe_ns = 100'000'000;
    // After this time, a peer counts as silent; this is reported and changes nothing else.
    uint64_t silent_after_ns = 2'000'000'000;
    uint32_t early_blocks = 512;  // most blocks of 2 KiB for envelopes of one flow that arrived too early
    // The first number of packets, on both sides. Tests use another one to make numbers wrap.
    uint64_t first_number = 1;
    AnswerLimits answer;
    CongestionLimits congestion;
    GrantLimits grants;
};

// The part of a flow's state that exists only while something is under way.
struct ActiveState {
    explicit ActiveState(uint64_t next_number, uint64_t next_arrival, const Position &to_send)
        : arrivals(next_arrival), unsent(to_send), peer_next(next_number) {}

    SentPackets sent;
    Arrivals arrivals;
    EarlyEnvelopes early;
    Position unsent;            // the first position that no packet has contained yet
    uint64_t unsent_bytes = 0;  // bytes of the envelopes from there on, each as one frame
    // The peer has received each packet of this side before this number, or has been informed that the packet
    // is not worth waiting for.
    uint64_t peer_next;
    uint64_t last_sent_ns = 0, waiting_since_ns = 0;
    uint64_t pace_ns = 0;   // when what was sent will have left, at the paced rate
    uint64_t burst_ns = 0;  // when the next burst may leave
    // List of bulk items with bytes that no packet has contained yet.
    uint32_t first_bulk = UINT32_MAX, last_bulk = UINT32_MAX;
    uint32_t probes = 0;  // unanswered probes in a row
    bool probe_wanted = false, end_wanted = false;
    bool silent = false;         // the peer's silence has been reported to the owner
    uint32_t refused_epoch = 0;  // an epoch that a packet named wrongly as this side's; 0: none
    uint32_t refused_from = 0;   // the epoch of that packet's sender
};

// Holds what all flows of a process share.
struct FlowHome {
    FlowHome(uint32_t own_number, const Secret &jobs_secret, const Crc32c &check, const FlowLimits &limit,
             FlowOwner &owns)
        : own(own_number), secret(jobs_secret), crc(check), limits(limit), owner(owns), grants(limit.grants),
          near_grants(limit.grants) {}

    // Counts a packet whose sender is no other process of the job, or is not proven to be one.
    void count_astray(std::span<const std::byte> packet) {
        PacketHeader header;
        counts.strangers += read(packet, header);
    }
    // Reads the header. If the packet has no complete header or a wrong check, counts the packet and returns
    // false.
    bool read(std::span<const std::byte> packet, PacketHeader &header) {
        if (read_header(crc, packet, header)) return true;
        ++(packet.size() < usual_header_bytes ? counts.garbage : counts.damaged);
        return false;
    }

    // The longest time for which a packet that is read now may have waited.
    uint64_t away_ns(uint64_t now_ns) const { return now_ns - std::min(now_ns, empty_ns); }
    // Called when received() has been given everything that had arrived by `until_ns`. If so much arrives
    // that the endpoint does not become empty, this function is called with `is_empty` false from time to
    // time.
    void heard_all(uint64_t until_ns, bool is_empty = true) {
        heard_until_ns = until_ns;
        if (is_empty) empty_ns = until_ns;
    }

    // For each kind of object: if no flow uses an object of this kind, returns the memory of these objects to
    // the system.
    void give_back() {
        sent.give_back();
        bulk.give_back();
        early.give_back();
        active_states.give_back();
    }

    const uint32_t own;  // serial of this process (base/processes.h)
    Secret secret;       // may be replaced only before the first flow is created
    const Crc32c crc;
    const FlowLimits limits;
    // Processes share processors, so a peer may have to wait for a processor before it reads.
    bool oversubscribed = false;
    FlowOwner &owner;
    // The last value passed to heard_all(); UINT64_MAX if that is never called.
    uint64_t heard_until_ns = UINT64_MAX;
    uint64_t empty_ns = UINT64_MAX;  // when the endpoint was last found empty
    FlowCounts counts;
    // Grants to senders across the network, and separately to senders within this host, whose packets do not
    // travel over the host's network link.
    Grants grants, near_grants;
    SentPackets::Records sent;
    Slab<BulkItem> bulk;
    EarlyEnvelopes::Blocks early;
    Slab<ActiveState> active_states;
};

}  // namespace lanyard::dgram
