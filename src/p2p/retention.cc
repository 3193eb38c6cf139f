// See retention.h.
#include "p2p/retention.h"

#include <algorithm>
#include <utility>

#include "base/abi_constants.h"
#include "datatype/cursor.h"
#include "datatype/predefined.h"
#include "p2p/unfinished_send.h"

namespace lanyard {

namespace {
constexpr uint64_t least_patience_ns = 20'000;
constexpr uint64_t bytes_per_patience_ns = 5;  // copies of 10 GB/s, twice
}  // namespace

uint64_t Retention::patience_ns(const SendOperation &send) const {
    const Settings &settings = endpoint_.settings;
    int64_t bytes = send.buffer.bytes();
    bool may_be_kept = send.unfinished && send.mode != SendMode::synchronous && !settings.check &&
                       bytes <= settings.retain && endpoint_.peers[send.peer].path->info.loses_bulk;
    return may_be_kept ? std::max(least_patience_ns, static_cast<uint64_t>(bytes) / bytes_per_patience_ns)
                       : 0;
}

Retention::Block Retention::take(size_t bytes) {
    if (spare_.size >= bytes) return std::exchange(spare_, {});
    return {array_or_null<std::byte>(bytes), bytes};
}

Retention::Result Retention::keep(SendOperation &send) {
    auto bytes = static_cast<uint64_t>(send.buffer.bytes()), of_peer = bytes;
    for (const Kept &kept : kept_)
        if (kept.send.peer == send.peer) of_peer += static_cast<uint64_t>(kept.send.buffer.bytes());
    if (of_peer > static_cast<uint64_t>(endpoint_.settings.retain) || kept_bytes_ + bytes > most_kept)
        return Result::never;
    if (!send.unfinished->can_hand_over()) return Result::later;
    Block block = take(bytes);
    if (!block.bytes) return Result::never;
    Kept &kept = kept_.emplace_back();
    kept.owner = this;
    kept.block = std::move(block);
    Cursor(send.buffer).pack(kept.block.bytes.get(), bytes);
    SendOperation &to = kept.send;
    static_cast<MatchKey &>(to) = send;
    to.peer = send.peer;
    to.destination = send.destination;
    to.check = send.check;
    to.mode = send.mode;
    to.buffer = {kept.block.bytes.get(), static_cast<int64_t>(bytes), predefined_datatype(abi::type_packed)};
    to.completion.then = ended;
    to.completion.context = &kept;
    kept_bytes_ += bytes;
    ++endpoint_.counts.retained;
    send.unfinished->hand_over(to);
    return Result::kept;
}

void Retention::ended(Completion &completion) {
    Kept &kept = *static_cast<Kept *>(completion.context);
    kept.owner->end(kept);
}

void Retention::end(Kept &kept) {
    if (kept.send.error) {
        endpoint_.losses.add(kept.send.peer, static_cast<uint64_t>(kept.send.buffer.bytes()));
        kept.send.error.discard();
    }
    kept_bytes_ -= static_cast<uint64_t>(kept.send.buffer.bytes());
    if (kept.block.size > spare_.size) std::swap(kept.block, spare_);
    kept_.remove_if([&](const Kept &one) { return &one == &kept; });
}

}  // namespace lanyard
