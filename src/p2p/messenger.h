// Point-to-point messages of one runtime: matching and the protocols. The sink of every path. Called by the API, by
// collectives and by communicator creation, always by the engine's owner.
//
// Protocols, by size and by the peer's credit:
//   short       up to inline_payload bytes: beside the envelope, costs no credit
//   eager       up to the eager limit while the peer's credit lasts: payload with the envelope, kept by the receiver if need be
//   write       rendezvous with a receive that has announced itself (write.cc): all bytes follow the offer without being asked for
//   rendezvous  the rest, and synchronous sends: an offer travels, over connections with the first bytes behind it as far as the credit
//               goes, so that the answer is there before they have all come. The receiver that matches it reads the bytes from the
//               sender's memory (path.get) and answers `finished`; where that is refused it answers `clear_to_send` with its id,
//               the sender pushes bulk frames to (id, offset), and the receiver completes when every byte is there. So it also does
//               within a node where the sender is in MPI and that has proved to be faster (choose_way.cc): two copy at the same time then, one
//               in, one out. Otherwise the sender of a long contiguous message writes a part itself meanwhile, if it is in MPI (both_sides.cc).
// Sender               Receiver (reads)        |  Sender               Receiver (two copies)
//   rendezvous ------>  match                  |    rendezvous ------>  match
//              <------  finished (after get)   |               <------  clear_to_send
//                                              |    bulk, bulk ------>  complete
// A send completes when its bytes are copied (short, eager, bulk accepted) or the receiver said `finished`, which on paths that lose
// bulk it also says of what came in bulk. When a connection of such a path was renewed, the receiver clears what it misses to send again.
// Long eager payload need not be copied there: it completes when the peer has acknowledged it (send_kept), unless the call itself waits.
// A long payload that comes in parts is matched when its envelope is here, and received in place: its receive is the peer's `arriving`
// until it has all come, over however many connections.
// A peer that is lost (lost.cc): what is open with it fails, and what is begun with it. Nothing is lost silently: messages whose send was over
// before that, and sends that nobody asks about, are told of by the next of these errors, and at the latest by MPI_Finalize.
// Envelopes travel in order, as room and credit allow (channel.h); a peer's credit is the lower the more peers there are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/copy.h"
#include "base/tally.h"
#include "config/settings.h"
#include "engine/engine.h"
#include "p2p/announcements.h"
#include "p2p/channel.h"
#include "p2p/traffic.h"
#include "p2p/transfer.h"
#include "p2p/transfer_table.h"
#include "p2p/unexpected.h"
#include "p2p/ways.h"
#include "path/path.h"

namespace lanyard {

struct RendezvousOffer {
    uint64_t sender_id;
    uint64_t address;  // of the contiguous bytes in the sender's memory; 0: not readable in one piece; or a receive's id (flag_announced)
};
static_assert(sizeof(RendezvousOffer) == Unexpected::offer_bytes);

// The answer's tag is 1 where the receiver's buffer is contiguous: what comes is written straight to its place.
struct ClearToSend {
    uint64_t receiver_id;
    uint64_t offset, end;  // the bytes wanted
};

// The receiver asks the sender to copy too (both_sides.cc).
struct HelpRequest {
    uint64_t receiver_id;
    uint64_t address;  // of the receive buffer
    uint32_t word;
    uint32_t generation;
};

// Told of messages of collectives that no receive awaited yet, and of peers that wait in one: they may show that ranks do not call
// the same. What the check words of such messages say is its affair.
class CollectiveObserver {
public:
    virtual void heard(const Envelope &envelope) = 0;
    // A message with `other` met a receive with `own`, which is not the same: no error if both may be right.
    virtual Error compared(uint32_t own, uint32_t other, int32_t other_rank) = 0;

protected:
    ~CollectiveObserver() = default;
};

// Since the start; `sent` and `matched` of all ranks let an observer prove that nothing is in flight.
struct MessageCounts {
    Tally<uint64_t> sent, matched;
    Tally<uint64_t> rendezvous;  // of those sent: begun with an offer
    Tally<uint64_t> announced;           // receives, to their senders
    Tally<uint64_t> crossed;             // announcements of peers that came too late
    Tally<uint64_t> announcements_used;  // named by an offer
    Tally<uint64_t> bytes_written;       // of messages whose offer named one
};

class Messenger final : public Sink {
public:
    Messenger(Engine &engine, const Settings &settings, uint32_t own_peer, uint32_t peers);
    ~Messenger() override = default;
    Messenger(const Messenger &) = delete;
    Messenger &operator=(const Messenger &) = delete;

    // Before the first message: the path that reaches the peer.
    void route(uint32_t peer, Path &path);
    const Path *path_to(uint32_t peer) const { return peers_[peer].path; }
    const Settings &settings() const { return settings_; }
    // The settings have other limits for messages sent from now on. [owner]
    void limits_changed();
    Engine &engine() { return engine_; }
    uint32_t own_peer() const { return own_peer_; }
    uint32_t peer_count() const { return static_cast<uint32_t>(peers_.size()); }

    // The blocking send's short way: true when the message has been copied and nothing more is to be done; else nothing has
    // happened and the caller starts a Transfer.
    [[gnu::always_inline]] bool send_now(uint32_t peer, const MatchKey &key, const Buffer &buffer, uint32_t check = 0) {
        return send_in_line(peers_[peer], key, buffer, check) || send_eager_now(peer, key, buffer, check);
    }
    // The same of a message to this process itself: it meets its receive, or is stored, at once. Only where no handler of the engine is
    // under way, as what waited for the receive goes on here.
    bool deliver_to_self(MatchKey key, const Buffer &buffer);
    // A receive's short way, from a named peer or (no_peer) from any: true when the message is taken, of which `taken` then says the rest; else
    // nothing has happened. Looks so many times whether it is there.
    [[gnu::always_inline]] bool receive_now(uint32_t peer, const MatchKey &key, const Buffer &buffer, int looks, Envelope &taken) {
        if (unexpected_.count() > 0) return take_stored(key, buffer, taken);
        return posted_.count() == 0 && peer != no_peer && take_next(peer, key, buffer, looks, taken);
    }
    // Need a send that may complete later not copy this?
    bool keeps(uint32_t peer, const Buffer &buffer) const {
        return buffer.bytes() > static_cast<int64_t>(inline_payload) && buffer.contiguous() &&
               static_cast<size_t>(buffer.bytes()) >= peers_[peer].path->keep_from();
    }
    // Start a described transfer; its completion may come before the return.
    void send(Transfer &transfer);
    void receive(Transfer &transfer);
    // The earliest stored message that a receive with this key would take, else nullptr; take() removes it from matching, and
    // receive_taken() receives it (mprobe, mrecv).
    Unexpected *probe(const MatchKey &key) { return unexpected_.find(key); }
    void take(Unexpected &message) { unexpected_.take(message); }
    void receive_taken(Transfer &transfer, Unexpected &message);
    // A posted receive is withdrawn at once if nothing matched it; an offered send is withdrawn at the receiver, which answers.
    void cancel(Transfer &transfer);

    // The program waits from now on, so what comes had better be copied by both sides (claim.cc).
    void withdraw_claims() {
        if (open_claims_) withdraw_open_claims();
    }
    // While it exists the program waits in a call for something else. Made and ended by the engine's owner.
    class HeldClaims {
    public:
        explicit HeldClaims(Messenger &messenger) : messenger_(messenger) {
            if (messenger_.claims_holders_++ == 0 && messenger_.open_claims_ && !messenger_.engine_.crowded()) messenger_.set_claims_held(true);
        }
        ~HeldClaims() {
            if (--messenger_.claims_holders_ == 0 && messenger_.claims_held_) messenger_.set_claims_held(false);
        }
        HeldClaims(const HeldClaims &) = delete;
        HeldClaims &operator=(const HeldClaims &) = delete;

    private:
        Messenger &messenger_;
    };
    // May a long message to that peer go to a receive which the next poll tells of?
    bool may_claim(uint32_t peer, const Buffer &buffer) const {
        return peers_[peer].claims && static_cast<uint64_t>(buffer.bytes()) >= peers_[peer].announced_from;
    }

    // Tells the peer in which collective this rank waits (`awaiting`), or which one the rank of the key calls (`calls`); it learns so
    // whether all are in the same one.
    void tell_call(uint32_t peer, EnvelopeKind kind, const MatchKey &key, uint32_t check);

    // The transfer has ended, and its caller never asks how.
    void unasked(Transfer &transfer, bool is_send);
    bool has_lost(uint32_t peer) const { return peers_[peer].closed; }
    // Why that peer, which is lost, cannot be reached, and what it may not have got.
    Error tell_loss(uint32_t peer, const char *what);
    // Messages that lost peers may not have got, as long as nobody has been told.
    Error untold_loss();

    // Nothing is owed to any peer and no peer owes anything.
    bool quiet() const { return channels_.waiting() == 0 && transfers_.count() == announced_; }
    // Sends whose offer no receive has matched.
    template <class Visit>
    void each_offered(Visit visit) const {
        transfers_.each([&](const Transfer &transfer) {
            if (transfer.state == Transfer::State::offered) visit(transfer);
        });
    }
    const MessageCounts &counts() const { return counts_; }
    const Ways &ways() const { return ways_; }
    void set_observer(CollectiveObserver *observer) { observer_ = observer; }
    // From now on traffic is counted there.
    void set_traffic(Traffic *traffic);
    size_t waiting_peers() const { return channels_.waiting(); }
    MatchQueue &posted() { return posted_; }
    UnexpectedQueue &unexpected() { return unexpected_; }

    void envelope(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size) override;
    std::byte *begin(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t come, size_t size, size_t &from) override;
    std::byte *place(uint32_t peer, const BulkHeader &header, size_t size) override;
    void bulk(uint32_t peer, const BulkHeader &header, const std::byte *payload, size_t size) override;
    void renewed(uint32_t peer) override;
    void sent(uint64_t token) override;
    void undelivered(uint32_t peer, const Envelope &envelope) override;
    void lost(uint32_t peer, Error reason) override;
    bool sated() const override { return engine_.wait_is_over(); }
    void rests() override { unexpected_.give_back(); }

private:
    struct Loss {
        std::string why;
        uint64_t messages = 0, bytes = 0;  // that were sent and may not have arrived
        bool told = false;                 // about all of these

        void add(uint64_t of_bytes) {
            ++messages;
            bytes += of_bytes;
            told = false;
        }
    };
    struct Peer : Channel {
        uint64_t messages_come = 0;
        Transfer *arriving = nullptr;
        uint64_t announced_from = UINT64_MAX;  // receives of so many bytes are announced
        int64_t shown_to = -1;  // messages of so many bytes the path shows; -1: none
        bool claims = false;       // receives that are announced are to be claimed (claim.cc)
        uint32_t open_claims = 0;  // that it may claim
        size_t eager_limit = 0;
        size_t first_limit = 0;  // bytes that may go with an offer
        uint32_t announced_in_vain = 0, not_announced = 0;
        uint32_t pushes_in_vain = 0, not_asked = 0;  // (choose_way.cc)
        Announcements announcements{*this};  // of its receives
        std::unique_ptr<Loss> loss;
    };

    // messenger.cc
    void set_limits(Peer &peer);
    void allow_rings();
    void answer(uint32_t number, const Envelope &envelope, const std::byte *payload);
    void store(uint32_t number, const Envelope &envelope, const std::byte *payload, size_t size);
    void reply(uint32_t peer, EnvelopeKind kind, uint64_t id, int32_t tag, const void *payload = nullptr, size_t size = 0);
    void begin_under_way(Transfer &transfer);
    void finish(Transfer &transfer);
    void finish_long(Transfer &transfer);
    void fail(Transfer &transfer, Error error);

    // lost.cc
    Loss &loss_of(uint32_t peer);
    bool fails_with_peer(Transfer &transfer);

    // send.cc
    void tell_rendezvous(const Transfer &transfer) const;
    static bool eager_fits(const Peer &peer, int64_t bytes);
    void count_sent(Peer &peer, const MatchKey &key, Protocol protocol, int64_t bytes);
    void begin_moving(Transfer &transfer);
    bool send_in_line(Peer &peer, const MatchKey &key, const Buffer &buffer, uint32_t check);
    bool send_eager_now(uint32_t peer, MatchKey key, const Buffer &buffer, uint32_t check);
    bool send_gathered_now(Peer &peer, Envelope &envelope, const Buffer &buffer);
    static bool flush_eager(Outgoing &outgoing);
    static bool flush_kept(Outgoing &outgoing);
    static bool flush_offer(Outgoing &outgoing);
    Sent transmit_offer(Transfer &transfer, Envelope &envelope, const RendezvousOffer &offer, size_t &first);
    void cleared(uint64_t id, const ClearToSend &clear, bool in_place);
    static int push_on(Task &task);
    void received_by_peer(uint64_t id);
    void withdrawn(uint64_t id, bool was_withdrawn);

    // write.cc
    void set_announcing(Peer &peer);
    void announce(Transfer &transfer);
    void end_announcement(Transfer &transfer, bool keeps_id);
    bool is_named(Transfer &transfer, uint32_t peer, const Envelope &envelope, const RendezvousOffer &offer);
    void heard_announcement(uint32_t number, const Envelope &envelope, const std::byte *payload);
    const AnnouncedReceive *announcement_for(const Transfer &send) const;
    void push_announced(Transfer &transfer, const AnnouncedReceive &announcement, uint64_t first);
    void push_from_first(Transfer &transfer);

    // claim.cc
    void announce_claim(Transfer &transfer);
    bool earlier_may_take(const Transfer &transfer);
    bool withdraw_claim(Transfer &transfer);
    void withdraw_open_claims();
    void set_claims_held(bool held);
    void free_claim(Transfer &transfer);
    void end_claim(Transfer &transfer);
    Transfer *take_posted(const MatchKey &key);
    Transfer *taker_of(const MatchKey &key);
    void heard_claimable(uint32_t number, const Envelope &envelope, const std::byte *payload);
    bool claim(Transfer &send);
    static int write_on(Task &task);
    static bool flush_written(Outgoing &outgoing);
    void written(uint32_t number, const Envelope &envelope, const std::byte *payload);

    // receive.cc
    void receive_stored(Transfer &transfer, Unexpected &message);
    void match(Transfer &transfer, const Envelope &envelope);
    size_t read_piece_of(Transfer &transfer, Error &error);
    void compare_checks(Transfer &transfer, const Envelope &envelope);
    void judge_length(Transfer &transfer, const Envelope &envelope);
    void deliver(Transfer &transfer, uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size);
    void deliver_eager(Transfer &transfer, uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size);
    bool take_stored(MatchKey key, const Buffer &buffer, Envelope &taken);
    bool take_next(uint32_t peer, MatchKey key, const Buffer &buffer, int looks, Envelope &taken);
    void take_payload(Transfer &transfer, uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size);
    bool accept_offer(Transfer &transfer, uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size);
    void put(Transfer &transfer, uint64_t offset, const std::byte *payload, size_t size);
    void complete_if_all(Transfer &transfer);
    static int read_on(Task &task);
    bool ask_for_bulk(Transfer &transfer);
    void expect_bulk(Transfer &transfer);
    void clear_rest(Transfer &transfer);
    Transfer *receiver_of(uint32_t peer, const BulkHeader &header, size_t size);
    // choose_way.cc
    bool begin_copying(Transfer &transfer, bool attended);
    bool copy_directly(Transfer &transfer);
    bool may_ask_for_push(Peer &peer);
    bool take_word(Transfer &transfer);
    void free_word(Transfer &transfer);
    void ask_for_push(Transfer &transfer);
    static int await_push(Task &task);
    void push_began(Transfer &transfer);
    bool claim_push(uint32_t number, const Envelope &envelope);
    // Can this process and the peer, by whatever means, touch so many bytes at that address of the peer's?
    bool touches(uint32_t number, uint64_t address, uint64_t bytes) const {
        return peers_[number].path->touches_memory(number) || peers_[number].path->mapped(number, address, bytes);
    }
    // Can the peer touch this contiguous buffer of here?
    bool touched_by(uint32_t number, const Buffer &buffer) const {
        auto address = reinterpret_cast<uintptr_t>(buffer.base);
        Path &path = *peers_[number].path;
        return path.touches_memory(number) || path.mapped(own_peer_, address, static_cast<size_t>(buffer.bytes()));
    }
    // both_sides.cc
    bool begin_both_sides(Transfer &transfer);
    static int read_pieces(Task &task);
    bool read_piece(Transfer &transfer, uint64_t piece);
    void end_both_sides(Transfer &transfer);
    void helped(uint64_t id, bool all_written);
    void help(uint32_t peer, uint64_t id, const HelpRequest &request);
    static int write_pieces(Task &task);

    void withdraw(uint32_t peer, uint64_t sender_id);

    static constexpr int64_t attended_bytes = 8192;  // a posted receive of so many is worth waking the helper for

    Engine &engine_;
    const Settings &settings_;
    uint32_t own_peer_;
    Channels channels_;
    std::vector<Peer> peers_;
    MatchQueue posted_;
    UnexpectedQueue unexpected_;
    TransferTable transfers_;
    MessageCounts counts_;
    size_t announced_ = 0;  // receives posted whose ids are in use
    Ways ways_;
    std::unique_ptr<std::byte[]> landing_;  // for what is read and then unpacked
    uint64_t free_words_ = ~uint64_t{0};  // own words not in use, by bit
    uint64_t open_claims_ = 0;            // of these, by bit: receives that may be claimed
    Transfer *claimable_[shared_words] = {};  // by bit
    int claims_holders_ = 0;
    bool claims_held_ = false;
    static_assert(shared_words == 64);
    CollectiveObserver *observer_ = nullptr;
    Traffic *traffic_ = nullptr;
};

}  // namespace lanyard

#include "p2p/short_way.h"
