// How the bytes of an offer travel within a node (ways.h): twice, through shared buffers, or directly. Only a sender that is inside MPI can push
// its bytes; one that waits in its call says so with the offer (flag_attended). Any other is asked in passing:
//
//   sender                      receiver
//     rendezvous  ------------>   match; begin a generation of a word
//                 <------------   clear to send, if the word is still to be had
//   claim the word; push
//     bulk, bulk  ------------>   complete
//
// Who claims the word has the message. A receiver that has waited in vain for a moment claims it itself and copies directly, so it
// waits for nobody; a sender that comes later finds the word taken and does nothing. Where that happens again and again nobody is asked
// but now and then.
#include <algorithm>

#include "base/log.h"
#include "p2p/claims.h"
#include "p2p/messenger.h"

namespace lanyard {

namespace {

constexpr uint64_t least_moment_ns = 2000, bytes_per_moment_ns = 32;  // a fraction of the time that the copy takes
constexpr uint32_t most_in_vain = 4, ask_every = 32;                    // pushes, messages

}  // namespace

// Begins the transfer of an accepted offer. True when its bytes are sent.
bool Messenger::begin_copying(Transfer &transfer, bool attended) {
    Peer &peer = peers_[transfer.data_peer];
    transfer.streamed = false;
    if (transfer.data_peer == own_peer_ || settings_.copies == "once") return copy_directly(transfer);
    if (settings_.copies == "twice") return ask_for_bulk(transfer);
    if (transfer.wanted < Ways::least_bytes || !(attended || may_ask_for_push(peer))) return copy_directly(transfer);
    bool mapped = peer.path->mapped(transfer.data_peer, transfer.remote_address, transfer.wanted) != nullptr;
    Ways::Kind kind = mapped ? Ways::Kind::mapped : transfer.buffer.contiguous() ? Ways::Kind::contiguous : Ways::Kind::in_runs;
    Ways::Way way = ways_.begin(kind, transfer.wanted, engine_.read_now_ns(), transfer.watched);
    if (way == Ways::Way::directly) return copy_directly(transfer);
    transfer.streamed = way == Ways::Way::streamed;
    if (attended) return ask_for_bulk(transfer);
    ask_for_push(transfer);
    return false;
}

bool Messenger::copy_directly(Transfer &transfer) {
    if (begin_both_sides(transfer)) return false;
    transfer.run = read_on;
    log(LogLevel::trace, "p2p", "peer %u: rendezvous %#llx: the receiver copies", transfer.data_peer,
        static_cast<unsigned long long>(transfer.remote_id));
    read_on(transfer);
    return false;
}

bool Messenger::may_ask_for_push(Peer &peer) {
    if (engine_.crowded() || free_words_ == 0) return false;
    return peer.pushes_in_vain < most_in_vain || ++peer.not_asked % ask_every == 0;
}

// False: there is none.
bool Messenger::take_word(Transfer &transfer) {
    if (free_words_ == 0) return false;
    auto index = static_cast<uint32_t>(__builtin_ctzll(free_words_));
    std::atomic<uint64_t> *word = peers_[transfer.data_peer].path->shared_word(own_peer_, index);
    if (!word) return false;
    free_words_ &= ~(uint64_t{1} << index);
    transfer.word = word;
    transfer.word_index = index;
    transfer.generation = Claims::next(Claims::read(word->load(std::memory_order_relaxed)).generation);
    word->store(Claims{transfer.generation, 0, 0}.word(), std::memory_order_release);
    return true;
}

void Messenger::free_word(Transfer &transfer) {
    transfer.word->store(Claims{Claims::next(transfer.generation), 0, 0}.word(), std::memory_order_release);
    free_words_ |= uint64_t{1} << transfer.word_index;
    transfer.word = nullptr;
}

void Messenger::ask_for_push(Transfer &transfer) {
    LANYARD_MUST(take_word(transfer));
    expect_bulk(transfer);
    ClearToSend clear{transfer.id, 0, transfer.wanted};
    Envelope envelope{};
    envelope.context = transfer.remote_id;
    envelope.tag = transfer.buffer.contiguous();
    envelope.kind = EnvelopeKind::clear_to_send;
    envelope.flags = flag_if_unclaimed;
    envelope.check = transfer.word_index | transfer.generation << 8;
    channels_.post(peers_[transfer.data_peer], envelope, &clear, sizeof clear);
    transfer.ask_until_ns = engine_.read_now_ns() + std::max(least_moment_ns, transfer.wanted / bytes_per_moment_ns);
    transfer.run = await_push;
    engine_.ready(transfer);
}

int Messenger::await_push(Task &task) {
    Transfer &transfer = static_cast<Transfer &>(task);
    Messenger &self = *transfer.messenger;
    if (Claims::read(transfer.word->load(std::memory_order_acquire)).back) {
        self.push_began(transfer);
        return 1;
    }
    if (self.engine_.read_now_ns() < transfer.ask_until_ns) {
        self.engine_.ready(transfer);
        return 0;
    }
    if (claim_piece(*transfer.word, transfer.generation, 1, true) < 0) {
        self.push_began(transfer);
        return 1;
    }
    log(LogLevel::trace, "p2p", "peer %u: rendezvous %#llx: the sender is not here", transfer.data_peer,
        static_cast<unsigned long long>(transfer.remote_id));
    ++self.peers_[transfer.data_peer].pushes_in_vain;
    self.free_word(transfer);
    self.transfers_.remove(transfer.id);
    transfer.id = 0;
    transfer.asked_for_bulk = transfer.streamed = false;
    if (transfer.watched) self.ways_.diverted();
    self.copy_directly(transfer);
    return 1;
}

// The sender has claimed the message.
void Messenger::push_began(Transfer &transfer) {
    peers_[transfer.data_peer].pushes_in_vain = 0;
    free_word(transfer);
}

// At the sender: is the message still to be pushed?
bool Messenger::claim_push(uint32_t number, const Envelope &envelope) {
    uint32_t index = envelope.check & 0xff;
    std::atomic<uint64_t> *word = index < shared_words ? peers_[number].path->shared_word(number, index) : nullptr;
    return word && claim_piece(*word, envelope.check >> 8, 1, false) >= 0;
}

}  // namespace lanyard
