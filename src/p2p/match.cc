#include "p2p/match.h"

#include <algorithm>
#include <iterator>

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
    if (entry.bucket_hook.linked()) {
        entry.bucket_hook.unlink();
        --filed_[entry.form()];
    }
    if (--count_ == 0) hashed_ = false;
}

// The earliest that fits in the bucket of `key`, which is the message's, with wildcards perhaps.
MatchEntry *MatchQueue::find(const MatchKey &key, const MatchKey &message) {
    Bucket &bucket = bucket_of(key);
    MatchEntry *entry = bucket.front();
    while (entry && !fits(*entry, message)) entry = bucket.after(*entry);
    return entry;
}

MatchEntry *MatchQueue::find_receive(const MatchKey &message) {
    if (!hashed_) {
        for (MatchEntry *entry = queue_.front(); entry; entry = queue_.after(*entry))
            if (fits(*entry, message)) return entry;
        return nullptr;
    }
    MatchEntry *exact = find(message, message);
    bool all_exact = count_ == filed_[0] || (message.context & collective_bit);
    return all_exact ? exact : find_wild(message, exact);
}

// The earliest with wildcards, if it comes before `exact`, the earliest without that fits, which may be nullptr.
MatchEntry *MatchQueue::find_wild(const MatchKey &message, MatchEntry *exact) {
    uint8_t promised = promises_.any() ? promises_.of(message.context) : 0;
    if (exact && (promised & promise::allow_overtaking)) return exact;
    MatchEntry *earliest = exact;
    for (unsigned form : {promise::no_any_source, promise::no_any_tag, promise::no_wildcards}) {
        if (filed_[form] == 0 || (promised & form)) continue;
        MatchKey key = message;
        if (form & promise::no_any_source) key.rank = any_source;
        if (form & promise::no_any_tag) key.tag = any_tag;
        MatchEntry *found = find(key, message);
        if (found && (!earliest || found->order < earliest->order)) earliest = found;
    }
    return earliest;
}

void MatchQueue::file(MatchEntry &entry) {
    bucket_of(entry).push_back(entry);
    ++filed_[entry.form()];
}

// Files everything queued, in order, under `buckets` (a power of two) heads.
void MatchQueue::build(size_t buckets) {
    for (MatchEntry *entry = queue_.front(); entry; entry = queue_.after(*entry))
        if (entry->bucket_hook.linked()) entry->bucket_hook.unlink();
    if (buckets_.size() < buckets) buckets_ = std::vector<Bucket>(buckets);
    std::fill(std::begin(filed_), std::end(filed_), 0u);
    hashed_ = true;
    for (MatchEntry *entry = queue_.front(); entry; entry = queue_.after(*entry)) file(*entry);
}

}  // namespace lanyard
