// See match.h.
#include "p2p/match.h"

namespace lanyard {

// The earliest entry in the bucket of `key` that the message fits. `key` is the message's key, or this key
// with wildcards.
MatchEntry *MatchQueue::find(const MatchKey &key, const MatchKey &message) {
    Bucket &bucket = bucket_of(key);
    MatchEntry *entry = bucket.front();
    while (entry && !fits(*entry, message)) entry = bucket.after(*entry);
    return entry;
}

MatchEntry *MatchQueue::find_behind_first(const MatchKey &message) {
    if (count_ <= few) {
        MatchEntry *entry = queue_.after(*queue_.front());
        while (entry && !fits(*entry, message)) entry = queue_.after(*entry);
        return entry;
    }
    file_all();
    MatchEntry *exact = find(message, message);
    bool all_exact = count_ == filed_[0] || (message.context & collective_bit);
    return all_exact ? exact : find_wild(message, exact);
}

// The earliest entry that the message fits. `exact` is the earliest entry without wildcards that the message
// fits, or nullptr. This function looks for an entry with wildcards that precedes `exact`.
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

void MatchQueue::file_all() {
    while (count_ > 2 * buckets_.size()) build(buckets_.empty() ? first_buckets : 4 * buckets_.size());
    for (; unfiled_; unfiled_ = queue_.after(*unfiled_)) {
        unfiled_->order = next_order_++;
        bucket_of(*unfiled_).push_back(*unfiled_);
        ++filed_[unfiled_->form()];
    }
}

// Replaces the hash by one with this number of buckets (a power of two), and takes all entries out of the
// hash.
void MatchQueue::build(size_t buckets) {
    for (MatchEntry *entry = queue_.front(); entry; entry = queue_.after(*entry)) unfile(*entry);
    buckets_ = std::vector<Bucket>(buckets);
    unfiled_ = queue_.front();
}

}  // namespace lanyard
