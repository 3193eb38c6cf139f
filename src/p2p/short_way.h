// What every short message needs of the messenger, inline: a call on the way costs as much as what it does. The last part of messenger.h,
// which alone includes it; thread rule and invariants are there.
#pragma once

#include <algorithm>
#include <cstdint>

#include "p2p/messenger.h"

namespace lanyard {

inline Envelope message_envelope(const MatchKey &key, EnvelopeKind kind, int64_t bytes, uint32_t check) {
    return {.context = key.context,
            .source = key.rank,
            .tag = key.tag,
            .length = static_cast<uint64_t>(bytes),
            .kind = kind,
            .flags = 0,
            .credit = 0,
            .check = check};
}

// A short message, where nothing is to be done but to write it into the ring that the peer reads.
[[gnu::always_inline]] inline bool Messenger::send_in_line(Peer &peer, const MatchKey &key, const Buffer &buffer, uint32_t check) {
    int64_t bytes = buffer.bytes();
    if (!peer.ring || bytes > static_cast<int64_t>(inline_payload) || !buffer.contiguous()) return false;
    if (!peer.ring->surely_has_room() || peer.credit_owed) return false;
    auto size = static_cast<size_t>(bytes);
    copy_few(peer.ring->begin_line(message_envelope(key, EnvelopeKind::eager, bytes, check)), buffer.base, size);
    peer.ring->end_line(size);
    ++counts_.sent;
    Channels::count(peer, key);
    return true;
}

// A message meets its receive.
[[gnu::always_inline]] inline void Messenger::match(Transfer &transfer, const Envelope &envelope) {
    ++counts_.matched;
    transfer.matched_rank = envelope.source;
    transfer.matched_tag = envelope.tag;
    int64_t room = transfer.buffer.bytes();
    auto length = static_cast<int64_t>(envelope.length);
    transfer.received = std::min(room, length);
    if (envelope.check != transfer.check) [[unlikely]] compare_checks(transfer, envelope);
    if ((length > room || (length < room && posted_.promises().any())) && !transfer.error) [[unlikely]] judge_length(transfer, envelope);
}

// Most messages go to the first posted receive, which has no word to be claimed.
[[gnu::always_inline]] inline Transfer *Messenger::taker_of(const MatchKey &key) {
    auto *first = static_cast<Transfer *>(posted_.first());
    if (!first || first->word || !fits(*first, key)) return take_posted(MatchKey(key));  // so that `key` itself needs no memory
    posted_.remove(*first);
    return first;
}

[[gnu::always_inline]] inline void Messenger::receive(Transfer &transfer) {
    transfer.error = {};
    transfer.cancelled = transfer.cancelling = false;
    transfer.received = 0;
    if (Unexpected *message = unexpected_.find(transfer)) return receive_stored(transfer, *message);
    const Peer *peer = transfer.peer == no_peer ? nullptr : &peers_[transfer.peer];
    if (peer && peer->closed) [[unlikely]] return fail(transfer, tell_loss(transfer.peer, "the process to receive from"));
    posted_.add(transfer);
    int64_t bytes = transfer.buffer.bytes();
    if (peer && static_cast<uint64_t>(bytes) >= peer->announced_from) announce(transfer);
    if (bytes >= attended_bytes) begin_under_way(transfer);
}

inline void Messenger::finish(Transfer &transfer) {
    if (transfer.state == Transfer::State::idle && !transfer.id && !transfer.under_way) transfer.completion.finish();
    else finish_long(transfer);
}

inline void Messenger::count_sent(Peer &peer, const MatchKey &key, Protocol protocol, int64_t bytes) {
    ++counts_.sent;
    Channels::count(peer, key);
    if (!traffic_) [[likely]] return;
    if (protocol == Protocol::eager && bytes <= static_cast<int64_t>(inline_payload)) protocol = Protocol::short_message;
    traffic_->sent(peer.number, peer.path->name(), protocol, static_cast<uint64_t>(bytes));
}

}  // namespace lanyard
