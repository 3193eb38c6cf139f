// The write protocol within a node (write.cc has the other half, over networks): a posted receive lets the sender of a long message write it
// straight into place, though the receiver computes. So a blocking send is over without waiting for it.
//
//   receiver                                     sender
//     posts the receive; opens a word
//     announcement (id, address, room, word) --->   (keeps it)
//                                                   claims the word; writes
//                                 <---  rendezvous, flag_claimed, names the id
//     complete
//
// The word belongs to the receiver and goes from `open` by a compare-and-swap either to `claimed`, by the sender, or to its next generation, by
// the receiver, which so withdraws it: when another message meets the receive, when the program cancels it, and when it waits, as both had
// better copy then (both_sides.cc). While it waits for something else in a call, a send, it holds its words: they are not to be claimed until
// it goes on. Who loses the swap obeys: a sender offers its message as ever; a claimed receive is not matched nor
// cancelled any more, but completes when its message says that it is written. Where writing is refused the message says so, and is asked for
// in bulk by that receive.
//
// Why the message that is written is the one that matching would have given this receive
// - Receives of one named source are announced, and only where no receive that was posted before could take a message which this one takes and
//   is not open itself. So the sender, which keeps announcements in the order of posting, knows each receive that comes before one it knows,
//   and takes the first that its message fits: never the next where that one may not be claimed (any more), or has not room enough.
// - None of its own messages is on its way to that receive. One that it had sent before the receive was posted, and that had not come, could be
//   the one the receive was posted for: the receiver says how many had come, and where that is not how many were sent the announcement is kept
//   but not to be claimed. Each message offered after that uses up the first announcement that it fits; and as that receive may be over
//   without the sender knowing (cancelled, or met by what was on its way), none of the later ones that it fits may be claimed either.
// - All is known again when a receive is announced of which the receiver says that no other is open, and nothing is on its way: then it is the
//   first posted one for whatever it takes.
// - Messages of other senders do not fit a receive of this source. Those of this sender that come while the receive is claimed were sent
//   after the claim, and belong to later receives.
// - A claim is for one message: each opening has a generation of its own.
//
// Nothing waits for ever: a claimed receive completes when the sender, which is inside its call, has written and sent the envelope.
#include <algorithm>
#include <cstring>

#include "base/clock.h"
#include "base/log.h"
#include "base/valgrind.h"
#include "p2p/claims.h"
#include "p2p/messenger.h"

namespace lanyard {

namespace {

constexpr size_t written_at_once = 1 << 20;  // bytes, between looks at the paths
constexpr uint64_t moment_ns = 700;          // from one call of MPI to the next where there is nothing between
constexpr int most_earlier = 32;             // receives looked at before one is opened
constexpr uint32_t most_in_vain = 8, try_every = 64;  // announcements, announceable receives
constexpr uint64_t state_open = 1, state_claimed = 2, state_held = 3;  // beside the generation, where pieces would be counted

uint64_t word_of(uint32_t generation, uint64_t state) { return Claims{generation, 0, state}.word(); }

struct ClaimablePayload {
    uint64_t receive_id;
    uint64_t come;  // messages from the peer
    uint64_t address;
};
static_assert(sizeof(ClaimablePayload) <= inline_payload);

bool may_take_the_same(const MatchKey &one, const MatchKey &other) {
    bool ranks = one.rank == other.rank || one.rank == any_source || other.rank == any_source;
    bool tags = one.tag == other.tag || one.tag == any_tag || other.tag == any_tag;
    return one.context == other.context && ranks && tags;
}

}  // namespace

// Where there are many receives it is not worth looking.
bool Messenger::earlier_may_take(const Transfer &transfer) {
    int looked_at = 0;
    for (MatchEntry *entry = posted_.first(); entry && entry != &transfer; entry = posted_.after(*entry)) {
        if (++looked_at > most_earlier) return true;
        if (!static_cast<Transfer *>(entry)->word && may_take_the_same(*entry, transfer)) return true;
    }
    return false;
}

// A long receive has been posted.
void Messenger::announce_claim(Transfer &transfer) {
    Peer &peer = peers_[transfer.peer];
    // Of a call that waits already, or of a collective, whose sends do not wait in their calls.
    if ((transfer.in_call && !engine_.crowded()) || (transfer.context & collective_bit)) return;
    bool in_vain = settings_.write_protocol == "auto" && peer.announced_in_vain >= most_in_vain;
    if (in_vain && ++peer.not_announced % try_every != 0) return;
    if (free_words_ == 0 || !transfer.buffer.contiguous() || !touched_by(transfer.peer, transfer.buffer)) return;
    if (under_valgrind() || earlier_may_take(transfer)) return;
    auto index = static_cast<uint32_t>(__builtin_ctzll(free_words_));
    free_words_ &= ~(uint64_t{1} << index);
    open_claims_ |= uint64_t{1} << index;
    claimable_[index] = &transfer;
    transfer.word = peer.path->shared_word(own_peer_, index);
    transfer.word_index = index;
    transfer.generation = Claims::next(Claims::read(transfer.word->load(std::memory_order_relaxed)).generation);
    transfer.word->store(word_of(transfer.generation, claims_held_ ? state_held : state_open), std::memory_order_release);
    transfer.id = transfers_.add(transfer);
    transfer.announced = true;
    ++announced_;
    ++peer.open_claims;
    ++peer.announced_in_vain;  // until it is claimed
    ++counts_.announced;
    ClaimablePayload payload{transfer.id, peer.messages_come, reinterpret_cast<uintptr_t>(transfer.buffer.base)};
    Envelope envelope{};
    envelope.context = transfer.context;
    envelope.source = transfer.rank;
    envelope.tag = transfer.tag;
    envelope.length = static_cast<uint64_t>(transfer.buffer.bytes());
    envelope.kind = EnvelopeKind::announcement;
    envelope.flags = flag_in_place | (peer.open_claims == 1 ? flag_sole : uint8_t{0});
    envelope.check = index | transfer.generation << 8;
    log(LogLevel::trace, "p2p", "peer %u: receive %#llx of %lld bytes may be claimed", transfer.peer,
        static_cast<unsigned long long>(transfer.id), static_cast<long long>(transfer.buffer.bytes()));
    channels_.post(peer, envelope, &payload, sizeof payload);
}

// Its word may be used for something else.
void Messenger::free_claim(Transfer &transfer) {
    uint64_t bit = uint64_t{1} << transfer.word_index;
    open_claims_ &= ~bit;
    free_words_ |= bit;
    --peers_[transfer.peer].open_claims;
    transfer.word = nullptr;
}

// Whatever its state: what was claimed is written, or never will be.
void Messenger::end_claim(Transfer &transfer) {
    transfer.word->store(word_of(Claims::next(transfer.generation), 0), std::memory_order_release);
    free_claim(transfer);
    end_announcement(transfer, false);
}

// False: it is claimed.
bool Messenger::withdraw_claim(Transfer &transfer) {
    uint64_t seen = word_of(transfer.generation, claims_held_ ? state_held : state_open);
    if (!transfer.word->compare_exchange_strong(seen, word_of(Claims::next(transfer.generation), 0), std::memory_order_acq_rel)) return false;
    free_claim(transfer);
    end_announcement(transfer, false);
    return true;
}

void Messenger::withdraw_open_claims() {
    if (engine_.crowded()) return;  // who waits gives its processor to the sender
    for (uint64_t left = open_claims_; left; left &= left - 1) {
        uint32_t index = static_cast<uint32_t>(__builtin_ctzll(left));
        if (!withdraw_claim(*claimable_[index])) open_claims_ &= ~(uint64_t{1} << index);
    }
}

void Messenger::set_claims_held(bool held) {
    uint64_t from = held ? state_open : state_held, to = held ? state_held : state_open;
    claims_held_ = held;
    for (uint64_t left = open_claims_; left; left &= left - 1) {
        const Transfer &transfer = *claimable_[__builtin_ctzll(left)];
        uint64_t seen = word_of(transfer.generation, from);  // else it is claimed
        transfer.word->compare_exchange_strong(seen, word_of(transfer.generation, to), std::memory_order_acq_rel);
    }
}

// The posted receive that takes the message with this key, which is no longer posted then. Those that are claimed wait for theirs.
Transfer *Messenger::take_posted(const MatchKey &key) {
    while (MatchEntry *entry = posted_.find_receive(key)) {
        posted_.remove(*entry);
        auto *transfer = static_cast<Transfer *>(entry);
        if (!transfer->word || withdraw_claim(*transfer)) return transfer;
    }
    return nullptr;
}

void Messenger::heard_claimable(uint32_t number, const Envelope &envelope, const std::byte *payload) {
    ClaimablePayload said;
    std::memcpy(&said, payload, sizeof said);
    Peer &peer = peers_[number];
    uint32_t index = envelope.check & 0xff;
    uint32_t generation = envelope.check >> 8;
    AnnouncedReceive announcement{{envelope.context, envelope.source, envelope.tag}, said.receive_id, envelope.length, true};
    announcement.address = said.address;
    announcement.word = index < shared_words ? peer.path->shared_word(number, index) : nullptr;
    announcement.open = word_of(generation, state_open);
    announcement.claimed = word_of(generation, state_claimed);
    if (!peer.announcements.add_claimable(announcement, said.come, envelope.flags & flag_sole)) ++counts_.crossed;
}

// Between two calls of a receiver that does not compute, too, its words are open: so a look is taken whether it waits in the next moment.
static bool waits_at_once(const AnnouncedReceive &receive) {
    uint64_t end_ns = clock_ns() + moment_ns;
    do {
        if (receive.word->load(std::memory_order_relaxed) != receive.open) return true;
    } while (clock_ns() < end_ns);
    return false;
}

// The message's turn to be sent has come. False: it is to be offered.
bool Messenger::claim(Transfer &send) {
    Peer &peer = peers_[send.peer];
    if (!send.in_call || !send.buffer.contiguous() || !peer.announcements.complete()) return false;
    if (peer.announced_from == UINT64_MAX) return false;  // the setting is off
    const AnnouncedReceive *one = peer.announcements.find(send);
    auto bytes = static_cast<uint64_t>(send.buffer.bytes());
    if (!one || !one->word || bytes > one->room || !touches(send.peer, one->address, bytes)) return false;
    uint64_t seen = one->open;
    if (waits_at_once(*one) || !one->word->compare_exchange_strong(seen, one->claimed, std::memory_order_acq_rel)) {
        ++counts_.crossed;
        return false;
    }
    send.remote_id = one->receive_id;
    send.remote_address = one->address;
    send.moved = 0;
    send.wanted = bytes;
    send.messenger = this;
    send.run = write_on;
    begin_moving(send);
    ++counts_.announcements_used;
    counts_.bytes_written += bytes;
    log(LogLevel::trace, "p2p", "peer %u: rendezvous %#llx: writes to the claimed receive %#llx", send.peer,
        static_cast<unsigned long long>(send.id), static_cast<unsigned long long>(send.remote_id));
    peer.announcements.message_claimed(send);
    ++counts_.sent;
    if (traffic_) traffic_->sent(send.peer, peer.path->name(), Protocol::write, bytes);
    engine_.ready(send);
    return true;
}

int Messenger::write_on(Task &task) {
    auto &send = static_cast<Transfer &>(task);
    Messenger &self = *send.messenger;
    size_t bytes = std::min<size_t>(send.wanted - send.moved, written_at_once);
    iovec run{send.buffer.base + send.moved, bytes};
    Error error = self.peers_[send.peer].path->put(send.peer, &run, 1, send.remote_address + send.moved, bytes);
    if (error) {
        log(LogLevel::info, "p2p", "peer %u: %s; copying through shared buffers instead", send.peer, error.sentence().c_str());
        error.discard();
    } else {
        send.moved += bytes;
        if (send.moved < send.wanted) {
            self.engine_.ready(send);
            return 1;
        }
    }
    send.flush = flush_written;
    self.channels_.start(self.peers_[send.peer], send);
    return 1;
}

bool Messenger::flush_written(Outgoing &outgoing) {
    auto &send = static_cast<Transfer &>(outgoing);
    Messenger &self = *send.messenger;
    bool all = send.moved == send.wanted;
    Envelope envelope{.context = send.context, .source = send.rank, .tag = send.tag, .length = send.wanted, .kind = EnvelopeKind::rendezvous,
                      .flags = flag_claimed, .credit = 0, .check = send.check};
    RendezvousOffer offer{all ? 0 : send.id, send.remote_id};
    Payload payload{reinterpret_cast<const std::byte *>(&offer), sizeof offer, nullptr};
    if (self.channels_.send(self.peers_[send.peer], envelope, payload) == Sent::full) return false;
    if (all) self.finish(send);
    else send.state = Transfer::State::offered;
    return true;
}

// The message that claimed a receive is in its place, or (it has an id) could not be written there.
void Messenger::written(uint32_t number, const Envelope &envelope, const std::byte *payload) {
    RendezvousOffer offer;
    std::memcpy(&offer, payload, sizeof offer);
    Transfer *transfer = transfers_.find(offer.address);
    LANYARD_MUST(transfer && transfer->announced);
    if (transfer->queued()) posted_.remove(*transfer);
    end_claim(*transfer);
    peers_[number].announced_in_vain = 0;
    match(*transfer, envelope);
    if (offer.sender_id == 0) return finish(*transfer);
    transfer->data_peer = number;
    transfer->remote_id = offer.sender_id;
    transfer->wanted = static_cast<uint64_t>(transfer->received);
    transfer->first = transfer->moved = 0;
    transfer->messenger = this;
    transfer->cursor = Cursor(transfer->buffer);
    transfer->written = false;
    begin_moving(*transfer);
    ask_for_bulk(*transfer);
}

}  // namespace lanyard
