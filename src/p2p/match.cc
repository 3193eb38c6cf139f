#include "p2p/match.h"

namespace lanyard {

void MatchQueue::add(MatchEntry &entry) {
    entry.order = next_order_++;
    queue_.push_back(entry);
    ++count_;
    if (hashed_) {
        if (count_ > 2 * buckets_.size()) build(4 * buckets_.size());
        else file(entry);
    } else if (count_ > few) {
        build(64);
    }
}

void MatchQueue::remove(MatchEntry &entry) {
    entry.queue_hook.unlink();
    if (entry.bucket_hook.linked()) entry.bucket_hook.unlink();
    if (--count_ == 0) hashed_ = false;
}

MatchEntry *MatchQueue::find_receive(const MatchKey &message) {
    if (!hashed_) {
        for (MatchEntry *entry = queue_.front(); entry; entry = queue_.after(*entry))
            if (fits(*entry, message)) return entry;
        return nullptr;
    }
    MatchEntry *exact = nullptr;
    Bucket &bucket = bucket_of(message);
    for (exact = bucket.front(); exact; exact = bucket.after(*exact))
        if (fits(*exact, message)) break;
    if (wildcards_.empty() || !needs_wildcards(message, exact)) return exact;
    for (MatchEntry *wild = wildcards_.front(); wild; wild = wildcards_.after(*wild)) {
        if (exact && wild->order > exact->order) break;
        if (fits(*wild, message)) return wild;
    }
    return exact;
}

// May a receive with wildcards take the message rather than `exact`, the earliest without that fits, if there is one?
bool MatchQueue::needs_wildcards(const MatchKey &message, const MatchEntry *exact) const {
    if (message.context & collective_bit) return false;
    if (!promises_.any()) return true;
    uint8_t promised = promises_.of(message.context);
    bool none = (promised & promise::no_wildcards) == promise::no_wildcards;
    return !none && !(exact && (promised & promise::allow_overtaking));
}

void MatchQueue::file(MatchEntry &entry) { (entry.wildcard() ? wildcards_ : bucket_of(entry)).push_back(entry); }

// Files everything queued, in order, under `buckets` (a power of two) heads.
void MatchQueue::build(size_t buckets) {
    for (MatchEntry *entry = queue_.front(); entry; entry = queue_.after(*entry))
        if (entry->bucket_hook.linked()) entry->bucket_hook.unlink();
    if (buckets_.size() < buckets) buckets_ = std::vector<Bucket>(buckets);
    hashed_ = true;
    for (MatchEntry *entry = queue_.front(); entry; entry = queue_.after(*entry)) file(*entry);
}

}  // namespace lanyard
