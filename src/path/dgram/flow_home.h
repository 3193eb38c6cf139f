// What all flows of a process share, their limits, and what they need of their owner. flow.h has the rules.
// Thread rule: the owner of the engine; counts may be read by any thread.
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

// `closed`: by the peer. `gone`: the owner has found out. `cut_off`: this process is.
enum class FlowEnd : uint8_t { silent = 1, refused, closed, gone, cut_off };
// What the owner knows about a peer that does not answer.
enum class Life : uint8_t { unknown, lives, gone };

// An envelope that the owner keeps until it is delivered.
struct Logged {
    const Envelope *envelope;
    const std::byte *payload;
    uint32_t size;
};

// The code above the flows, which has the bytes. Its functions are called from inside compose() and
// received(). They may call log_grew() and send_bulk() and nothing else.
class FlowOwner {
public:
    virtual ~FlowOwner() = default;
    // An envelope of the log. `sequence` is at least the last value passed to delivered(), and less than that
    // of log_grew().
    virtual Logged logged(Flow &flow, uint64_t sequence) = 0;
    // `size` bytes of what was passed to send_bulk(), starting at `offset`: either their address, or
    // `scratch` after they were copied to it.
    virtual const std::byte *bulk_bytes(Flow &flow, uint64_t token, uint64_t offset, std::byte *scratch,
                                        size_t size) = 0;
    // The peer's library has all envelopes before this one.
    virtual void delivered(Flow &flow, uint64_t below) = 0;
    // The peer's library has all of this bulk. Once for each send_bulk().
    virtual void bulk_delivered(Flow &flow, uint64_t token) = 0;
    // The next bytes of the envelopes from the peer, in order. A payload may arrive in several pieces; the
    // first of them contains the envelope.
    virtual void envelope(Flow &flow, const Piece &piece, const std::byte *payload) = 0;
    virtual void bulk(Flow &flow, const BulkHeader &header, const std::byte *payload, size_t size) = 0;
    // The peer has not answered for a quarter of the time after which it counts as failed. Called often.
    virtual Life life(Flow &) { return Life::unknown; }
    // The number by which packets and proofs name the peer.
    virtual uint32_t serial_of(uint32_t peer) const { return peer; }
    // `now`: nothing has arrived for long although something is outstanding. Otherwise, something has arrived
    // again after that.
    virtual void silent(Flow &, bool /*now*/) {}
    // Once. What has not been delivered will not be, and the flow does not request it again.
    virtual void ended(Flow &flow, FlowEnd how) = 0;
};

struct FlowLimits {
    uint64_t peer_timeout_ns = 60'000'000'000;
    uint64_t first_probe_ns = 20'000'000;  // while no round trip is known
    uint64_t longest_probe_ns = 500'000'000;
    // After this time, a peer counts as silent; this is reported and changes nothing else.
    uint64_t silent_after_ns = 2'000'000'000;
    uint32_t early_blocks = 512;  // of 2 KiB, for envelopes of one flow that arrived ahead of their turn
    uint64_t first_number = 1;    // of packets, on both sides; tests use another one to make numbers wrap
    AnswerLimits answer;
    CongestionLimits congestion;
    GrantLimits grants;
};

// What a flow has while something is under way.
struct Traffic {
    explicit Traffic(uint64_t next_number, uint64_t next_arrival, const Position &to_send)
        : arrivals(next_arrival), unsent(to_send), peer_next(next_number) {}

    SentPackets sent;
    Arrivals arrivals;
    EarlyEnvelopes early;
    Position unsent;            // the first position that no packet has contained yet
    uint64_t unsent_bytes = 0;  // of envelopes and payload from there on, as frames one after the other
    // All our packets before this one have reached the peer, or it knows that they will not.
    uint64_t peer_next;
    uint64_t last_sent_ns = 0, waiting_since_ns = 0;
    uint64_t pace_ns = 0;   // when the line would be free again
    uint64_t burst_ns = 0;  // when the next burst may leave
    // Items with bytes that no packet has contained yet.
    uint32_t first_bulk = UINT32_MAX, last_bulk = UINT32_MAX;
    uint32_t probes = 0;  // in a row
    bool probe_wanted = false, end_wanted = false;
    bool silent = false;         // reported to the owner
    uint32_t refused_epoch = 0;  // which a packet named as ours
    uint32_t refused_from = 0;   // the epoch of that packet's sender
};

// What all flows of a process share.
struct FlowHome {
    FlowHome(uint32_t own_number, const Secret &jobs_secret, const Crc32c &check, const FlowLimits &limit,
             FlowOwner &owns)
        : own(own_number), secret(jobs_secret), crc(check), limits(limit), owner(owns), grants(limit.grants),
          near_grants(limit.grants) {}

    // A packet whose named sender is no other process of the job.
    void count_astray(std::span<const std::byte> packet) {
        PacketHeader header;
        counts.strangers += read(packet, header);
    }
    // Counts a packet that has no header or a wrong check.
    bool read(std::span<const std::byte> packet, PacketHeader &header) {
        if (read_header(crc, packet, header)) return true;
        ++(packet.size() < usual_header_bytes ? counts.garbage : counts.damaged);
        return false;
    }

    // The longest time for which a packet that is read now has waited.
    uint64_t away_ns(uint64_t now_ns) const { return now_ns - std::min(now_ns, empty_ns); }
    // received() has been given everything that had arrived by that time, or, if the endpoint does not become
    // empty, much of it.
    void heard_all(uint64_t until_ns, bool is_empty = true) {
        heard_until_ns = until_ns;
        if (is_empty) empty_ns = until_ns;
    }

    // Returns memory of what was under way to the system, if nothing is.
    void give_back() {
        sent.give_back();
        bulk.give_back();
        early.give_back();
        traffic.give_back();
    }

    const uint32_t own;  // serial of this process (base/processes.h)
    Secret secret;       // set before the first flow is created
    const Crc32c crc;
    const FlowLimits limits;
    // Processes share processors: a peer may have to wait for one before it looks.
    bool oversubscribed = false;
    FlowOwner &owner;
    // The last value passed to heard_all(); UINT64_MAX if that is never called.
    uint64_t heard_until_ns = UINT64_MAX;
    uint64_t empty_ns = UINT64_MAX;  // when the endpoint was last found empty
    FlowCounts counts;
    // Grants to senders across the network, and to those within this host, which do not share its line.
    Grants grants, near_grants;
    SentPackets::Records sent;
    Slab<BulkItem> bulk;
    EarlyEnvelopes::Blocks early;
    Slab<Traffic> traffic;
};

}  // namespace lanyard::dgram
