// See unexpected.h.
#include "p2p/unexpected.h"

#include <algorithm>
#include <cstring>

#include "base/copy.h"

namespace lanyard {

UnexpectedQueue::~UnexpectedQueue() {
    while (Unexpected *message = first()) {
        take(*message);
        drop(*message);
    }
}

Unexpected &UnexpectedQueue::add(uint32_t peer, const Envelope &envelope, const std::byte *payload,
                                 size_t size) {
    uint32_t index = slab_.take();
    Unexpected &message = slab_.at(index);
    static_cast<MatchKey &>(message) = {envelope.context, envelope.source, envelope.tag};
    message.peer = peer & (Unexpected::most_peers - 1);
    message.attended = (envelope.flags & flag_attended) != 0;
    message.next = none;
    message.previous = last_;
    if (envelope.kind == EnvelopeKind::eager && size <= inline_payload && size == envelope.length) {
        message.form = size & 31;
        copy_few(message.inlined, payload, size);
    } else {
        hold(message, envelope, payload, size);
    }
    if (envelope.check || index < checks_.size()) keep_check(index, envelope.check);
    (last_ == none ? first_ : slab_.at(last_).next) = index;
    last_ = index;
    ++added_;
    most_.note(++count_);
    if (hashed_) {
        if (count_ > 2 * buckets_.size()) build(2 * buckets_.size());
        else file(index, message);
    } else if (count_ > few) {
        build(std::max(least_buckets, buckets_.size()));
    }
    return message;
}

void UnexpectedQueue::keep_check(uint32_t index, uint32_t check) {
    if (index >= checks_.size()) checks_.resize(std::max<size_t>(index + 1, least_checks));
    checks_[index] = check;
}

// Stores the payload of a message that is not a complete short eager one.
void UnexpectedQueue::hold(Unexpected &message, const Envelope &envelope, const std::byte *payload,
                           size_t size) {
    bool offers = envelope.kind == EnvelopeKind::rendezvous;
    message.in_parts.length = envelope.length;
    if (offers && size == Unexpected::offer_bytes) {
        message.form = Unexpected::offer;
        std::memcpy(message.in_parts.offer, payload, Unexpected::offer_bytes);
        return;
    }
    message.form = offers ? Unexpected::kept_offer : Unexpected::kept;
    std::byte *own = payloads_.take(size);
    if (size) copy_bytes(own, payload, size);
    message.in_parts.elsewhere = {own, size};
    payload_bytes_ += size;
    most_payload_bytes_.note(payload_bytes_);
}

void UnexpectedQueue::free_payload(Unexpected &message) {
    payload_bytes_ -= message.in_parts.elsewhere.size;
    payloads_.give(message.in_parts.elsewhere.payload, message.in_parts.elsewhere.size);
}

void UnexpectedQueue::take(Unexpected &message) {
    uint32_t &to_it = message.previous == none ? first_ : slab_.at(message.previous).next;
    uint32_t index = to_it;
    if (hashed_) unfile(index, message);
    to_it = message.next;
    (message.next == none ? last_ : slab_.at(message.next).previous) = message.previous;
    message.next = index;
    if (--count_ > 0) return;
    hashed_ = false;
    if (buckets_.size() > most_idle_buckets) std::vector<uint32_t>().swap(buckets_);
}

Unexpected *UnexpectedQueue::find_behind_first(const MatchKey &receive) {
    if (!hashed_ || receive.wildcard()) {
        for (uint32_t index = slab_.at(first_).next; index != none;) {
            Unexpected &message = slab_.at(index);
            if (fits(receive, message)) return &message;
            index = message.next;
        }
        return nullptr;
    }
    uint32_t last = bucket_of(receive);
    if (last == none) return nullptr;
    uint32_t index = last;
    do {
        index = slab_.at(index).next_in_bucket;
        Unexpected &message = slab_.at(index);
        if (fits(receive, message)) return &message;
    } while (index != last);
    return nullptr;
}

void UnexpectedQueue::file(uint32_t index, Unexpected &message) {
    uint32_t &last = bucket_of(message);
    if (last == none) {
        message.next_in_bucket = index;
    } else {
        Unexpected &before = slab_.at(last);
        message.next_in_bucket = before.next_in_bucket;
        before.next_in_bucket = index;
    }
    last = index;
}

// Removes a message from its bucket. The message is usually the earliest with its key, so the loop passes
// only over messages with other keys.
void UnexpectedQueue::unfile(uint32_t index, const Unexpected &message) {
    uint32_t &last = bucket_of(message);
    uint32_t before = last;
    while (slab_.at(before).next_in_bucket != index) before = slab_.at(before).next_in_bucket;
    if (before == index) {
        last = none;
        return;
    }
    slab_.at(before).next_in_bucket = message.next_in_bucket;
    if (last == index) last = before;
}

// Puts all queued messages into the hash, in order. The hash then has at least `buckets` buckets.
void UnexpectedQueue::build(size_t buckets) {
    if (buckets_.size() < buckets) {
        std::vector<uint32_t>().swap(buckets_);  // frees the old array before the larger one is allocated
        buckets_.assign(buckets, none);
    }
    hashed_ = true;
    for (uint32_t index = first_; index != none; index = slab_.at(index).next) file(index, slab_.at(index));
}

}  // namespace lanyard
