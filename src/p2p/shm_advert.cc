// Opens, holds and withdraws the words of receives that senders may claim (shm_advert.h).
#include "p2p/shm_advert.h"

#include <cstring>

#include "base/log.h"
#include "base/valgrind.h"
#include "p2p/receive_advert.h"

namespace lanyard {

namespace {

constexpr int most_earlier = 32;  // at most this many earlier receives are examined
// Values of the field `back`, in which dual_copy.h counts pieces.
constexpr uint64_t state_open = 1, state_claimed = 2, state_held = 3;

uint64_t word_of(uint32_t generation, uint64_t state) { return Claims{generation, 0, state}.word(); }

struct ClaimablePayload {
    uint64_t receive_id;
    uint64_t received;  // how many messages of the peer had arrived
    uint64_t address;
};
static_assert(sizeof(ClaimablePayload) <= inline_payload);

bool may_take_the_same(const MatchKey &one, const MatchKey &other) {
    bool ranks = one.rank == other.rank || one.rank == any_source || other.rank == any_source;
    bool tags = one.tag == other.tag || one.tag == any_tag || other.tag == any_tag;
    return one.context == other.context && ranks && tags;
}

}  // namespace

uint64_t ShmAdverts::open_state() const { return held_ ? state_held : state_open; }

// Could an earlier posted receive that cannot be claimed take the same message? Also true if so many receives
// are posted that the search is not worthwhile.
bool ShmAdverts::earlier_may_take(const ReceiveOperation &receive) const {
    int looked_at = 0;
    for (MatchEntry *entry = posted_.first(); entry && entry != &receive; entry = posted_.after(*entry)) {
        if (++looked_at > most_earlier) return true;
        if (!static_cast<ReceiveOperation *>(entry)->claimable && may_take_the_same(*entry, receive))
            return true;
    }
    return false;
}

bool ShmAdverts::is_sole(uint32_t peer) const {
    for (uint64_t left = used_; left; left &= left - 1)
        if (all_[__builtin_ctzll(left)].receive->peer == peer) return false;
    return true;
}

// Is it possible and worthwhile to let the sender claim this receive? Not if the call that posted the receive
// already waits for it, unless ranks are oversubscribed. Also not for a receive of a collective: only sends
// with `in_call` claim receives, and sends of a collective do not have it.
bool ShmAdverts::worth_opening(const ReceiveOperation &receive) const {
    if ((receive.in_call && !endpoint_.engine.oversubscribed()) || (receive.context & collective_bit))
        return false;
    if (!worth_announcing(endpoint_.settings, endpoint_.peers[receive.peer])) return false;
    if (!endpoint_.words.has_any() || !receive.buffer.contiguous() ||
        !endpoint_.touched_by(receive.peer, receive.buffer))
        return false;
    return !under_valgrind() && !earlier_may_take(receive);
}

void ShmAdverts::announce(ReceiveOperation &receive) {
    Peer &peer = endpoint_.peers[receive.peer];
    OwnWord word;
    if (!worth_opening(receive) || !endpoint_.words.take(*peer.path, endpoint_.own_peer, word)) return;
    word.word->store(word_of(word.generation, open_state()), std::memory_order_release);
    bool sole = is_sole(receive.peer);
    Claimable &claimable = all_[word.index];
    claimable = {word, &receive};
    receive.claimable = &claimable;
    used_ |= uint64_t{1} << word.index;
    open_ |= uint64_t{1} << word.index;
    peer.announcing.in_vain();  // taken back when the receive is claimed
    ++endpoint_.counts.announced;
    ClaimablePayload payload{word.name(), peer.messages_received,
                             reinterpret_cast<uintptr_t>(receive.buffer.base)};
    Envelope envelope =
        message_envelope(receive, EnvelopeKind::announcement, receive.buffer.bytes(), word.name());
    envelope.flags = flag_in_place | (sole ? flag_sole : uint8_t{0});
    log(LogLevel::trace, "p2p", "peer %u: receive %#llx of %lld bytes may be claimed", receive.peer,
        static_cast<unsigned long long>(payload.receive_id), static_cast<long long>(receive.buffer.bytes()));
    endpoint_.channels.post(peer, envelope, &payload, sizeof payload);
}

// Releases the word for other uses.
void ShmAdverts::free(Claimable &claimable) {
    uint64_t bit = uint64_t{1} << claimable.word.index;
    open_ &= ~bit;
    used_ &= ~bit;
    claimable.receive->claimable = nullptr;
    claimable.receive = nullptr;
    endpoint_.words.release(claimable.word);
}

void ShmAdverts::end(ReceiveOperation &receive) {
    OwnWord &word = receive.claimable->word;
    word.word->store(word_of(Claims::next(word.generation), 0), std::memory_order_release);
    free(*receive.claimable);
}

bool ShmAdverts::withdraw(ReceiveOperation &receive) {
    OwnWord &word = receive.claimable->word;
    uint64_t seen = word_of(word.generation, open_state());
    uint64_t over = word_of(Claims::next(word.generation), 0);
    if (!word.word->compare_exchange_strong(seen, over, std::memory_order_acq_rel)) return false;
    free(*receive.claimable);
    return true;
}

ReceiveOperation *ShmAdverts::claimed(uint32_t peer, uint64_t id) {
    uint32_t index = OwnWord::index_of(static_cast<uint32_t>(id));
    if (index >= shared_words || !(used_ >> index & 1)) return nullptr;
    Claimable &claimable = all_[index];
    if (claimable.word.name() != id || claimable.receive->peer != peer) return nullptr;
    endpoint_.peers[peer].announcing.worked();
    ReceiveOperation *receive = claimable.receive;
    end(*receive);
    return receive;
}

void ShmAdverts::withdraw_open() {
    // If ranks are oversubscribed, a waiting rank yields its processor to the sender. The sender then copies
    // alone, so its claim is still wanted.
    if (endpoint_.engine.oversubscribed()) return;
    for (uint64_t left = open_; left; left &= left - 1) {
        auto index = static_cast<uint32_t>(__builtin_ctzll(left));
        if (!withdraw(*all_[index].receive)) open_ &= ~(uint64_t{1} << index);
    }
}

void ShmAdverts::hold() {
    if (holders_++ == 0 && open_ && !endpoint_.engine.oversubscribed()) set_held(true);
}

void ShmAdverts::hold_no_more() {
    if (--holders_ == 0 && held_) set_held(false);
}

void ShmAdverts::set_held(bool held) {
    uint64_t from = held ? state_open : state_held, to = held ? state_held : state_open;
    held_ = held;
    for (uint64_t left = open_; left; left &= left - 1) {
        const OwnWord &word = all_[__builtin_ctzll(left)].word;
        // If the word has another value, the receive is claimed.
        uint64_t seen = word_of(word.generation, from);
        word.word->compare_exchange_strong(seen, word_of(word.generation, to), std::memory_order_acq_rel);
    }
}

bool hear_claimable(Announcements &known, Path &path, uint32_t peer, const Envelope &envelope,
                    const std::byte *payload) {
    ClaimablePayload said;
    std::memcpy(&said, payload, sizeof said);
    uint32_t index = OwnWord::index_of(envelope.check), generation = OwnWord::generation_of(envelope.check);
    AnnouncedReceive receive{
        {envelope.context, envelope.source, envelope.tag}, said.receive_id, envelope.length, true};
    receive.address = said.address;
    receive.word = index < shared_words ? path.memory().shared_word(peer, index) : nullptr;
    receive.open = word_of(generation, state_open);
    receive.claimed = word_of(generation, state_claimed);
    return known.add_claimable(receive, said.received, envelope.flags & flag_sole);
}

}  // namespace lanyard
