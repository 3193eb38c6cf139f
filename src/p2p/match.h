// Matching (MPI-5.0 3.5): which posted receive takes an arriving message; unexpected.h has the other half. Pure: a queue of
// intrusive entries, no sockets, no clock, no allocation once warm. Used by the messenger alone.
//
// Order: a message goes to the earliest posted receive it fits. That is the first of all for who receives in the order of sending, so it is
// looked at first. While few entries are queued the others are scanned in order. Beyond `few` they are found by a hash of (context, rank, tag),
// wildcards being values like others: so a message is looked for once as it is and once in each of the three forms with wildcards that some
// entry has. Between what is found the order number decides. Forms that the program has promised not to use, or that no message of a
// collective meets, are left out. Entries are filed in the hash when it is first needed: some of the first, and none of those behind.
#pragma once

#include <cstdint>
#include <vector>

#include "base/list.h"
#include "base/tally.h"
#include "p2p/promises.h"
#include "path/envelope.h"

namespace lanyard {

constexpr int32_t any_source = -1;
constexpr int32_t any_tag = -2;

// What a message is matched by. In a receive, rank and tag may be any_source and any_tag.
struct MatchKey {
    uint64_t context = 0;
    int32_t rank = 0;
    int32_t tag = 0;

    bool wildcard() const { return rank == any_source || tag == any_tag; }
    // By which wildcards it has: 0 to 3.
    unsigned form() const { return (rank == any_source ? promise::no_any_source : 0u) | (tag == any_tag ? promise::no_any_tag : 0u); }
};

struct MatchEntry : MatchKey {
    Hook queue_hook;   // all entries of the queue, in order
    Hook bucket_hook;  // the same, by hash, once there are many
    uint64_t order = 0;  // among those that are filed there

    bool queued() const { return queue_hook.linked(); }
};

// Does the message `exact` fit what `wanted` asks for?
inline bool fits(const MatchKey &wanted, const MatchKey &exact) {
    return wanted.context == exact.context && (wanted.rank == exact.rank || wanted.rank == any_source) &&
           (wanted.tag == exact.tag || (wanted.tag == any_tag && exact.tag >= 0));
}

// For tables of a power of two.
inline uint64_t hash_of(const MatchKey &key) {
    uint64_t mixed =
        key.context * 0x9e3779b97f4a7c15u ^ (static_cast<uint64_t>(static_cast<uint32_t>(key.rank)) << 32 | static_cast<uint32_t>(key.tag));
    mixed *= 0xd6e8feb86659fd93u;
    return mixed >> 32;
}

class MatchQueue {
public:
    void add(MatchEntry &entry) {
        queue_.push_back(entry);
        ++count_;
        if (!unfiled_) unfiled_ = &entry;
    }
    void remove(MatchEntry &entry) {
        if (unfiled_ == &entry) unfiled_ = queue_.after(entry);
        else unfile(entry);
        entry.queue_hook.unlink();
        --count_;
    }
    // The earliest posted receive that takes the message with this (exact) key, else nullptr. Stays queued.
    MatchEntry *find_receive(const MatchKey &message) {
        MatchEntry *first = queue_.front();
        return !first || fits(*first, message) ? first : find_behind_first(message);
    }
    MatchEntry *first() { return queue_.front(); }
    MatchEntry *after(MatchEntry &entry) { return queue_.after(entry); }
    size_t count() const { return count_; }
    Promises &promises() { return promises_; }

private:
    using Queue = List<MatchEntry, &MatchEntry::queue_hook>;
    using Bucket = List<MatchEntry, &MatchEntry::bucket_hook>;
    static constexpr size_t few = 8, first_buckets = 64;

    Bucket &bucket_of(const MatchKey &key) { return buckets_[hash_of(key) & (buckets_.size() - 1)]; }
    void file_all();
    void build(size_t buckets);
    MatchEntry *find_behind_first(const MatchKey &message);
    MatchEntry *find(const MatchKey &key, const MatchKey &message);
    void unfile(MatchEntry &entry) {
        if (!entry.bucket_hook.linked()) return;
        entry.bucket_hook.unlink();
        --filed_[entry.form()];
    }
    MatchEntry *find_wild(const MatchKey &message, MatchEntry *exact);

    Queue queue_;
    Tally<size_t> count_;
    uint64_t next_order_ = 0;  // to be filed
    MatchEntry *unfiled_ = nullptr;  // the first of those that are not filed
    std::vector<Bucket> buckets_;
    uint32_t filed_[4] = {};  // by form
    Promises promises_;
};

}  // namespace lanyard
