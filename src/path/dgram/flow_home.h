// What all flows of a process share, their limits, and what they ask of their owner. flow.h has the rules.
// Thread rule: the owner of the engine; what is counted is for any thread to read.
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
    // By which packets and proofs name the peer.
    virtual uint32_t serial_of(uint32_t peer) const { return peer; }
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

    const uint32_t own;  // serial of this process (base/processes.h)
    Secret secret;  // before the first flow is made
    const Crc32c crc;
    const FlowLimits limits;
    bool oversubscribed = false;  // processes share processors: a peer takes as long to look as it has to wait for one
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

}  // namespace lanyard::dgram
