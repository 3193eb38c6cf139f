// Matching (MPI-5.0 3.5): finds the posted receive that takes an arriving message. unexpected.h finds the
// stored message that a new receive takes. The queue links the entries themselves (intrusive lists). It uses
// no sockets and no clock, and allocates nothing once it has reached its size. Used by the messenger.
//
// Order: a message goes to the earliest posted receive that it fits. If the program receives in the order of
// sending, this is the first receive in the queue, so the first receive is examined before the others. Up to
// `few` entries are scanned in order. With more entries, a receive is found by a hash of (context, rank,
// tag), in which a wildcard is a value like any other. A message is therefore looked up with its own key, and
// with each of the three combinations of wildcards ("forms") that some entry has. The candidate with the
// lowest order number takes the message. Forms that the program has promised not to use are skipped
// (promises.h). With the promise allow_overtaking, the hash prefers a receive without wildcards even to an
// earlier one with wildcards. For a message of a collective all three forms are skipped, because collectives
// use no wildcards. Entries enter the hash when a lookup first needs them there: at any time the hash holds
// the entries of the queue before `unfiled_`, and none of the later ones.
// Thread rule: the owner of the engine.
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

// The values by which messages and receives are matched. In a receive, `rank` may be any_source and `tag`
// any_tag.
struct MatchKey {
    uint64_t context = 0;
    int32_t rank = 0;
    int32_t tag = 0;

    bool wildcard() const { return rank == any_source || tag == any_tag; }
    // Which wildcards the key has, as a number from 0 (none) to 3 (both).
    unsigned form() const {
        return (rank == any_source ? promise::no_any_source : 0u) |
               (tag == any_tag ? promise::no_any_tag : 0u);
    }
};

struct MatchEntry : MatchKey {
    Hook queue_hook;     // in the list of all entries of the queue, in order
    Hook bucket_hook;    // in a bucket of the hash, if the entry is in the hash
    uint64_t order = 0;  // the entry's position among those in the hash

    bool queued() const { return queue_hook.linked(); }
};

// Does the message `exact` fit a receive with the key `wanted`? any_tag fits no negative tag, which only the
// library could use.
inline bool fits(const MatchKey &wanted, const MatchKey &exact) {
    return wanted.context == exact.context && (wanted.rank == exact.rank || wanted.rank == any_source) &&
           (wanted.tag == exact.tag || (wanted.tag == any_tag && exact.tag >= 0));
}

// A hash of the key whose low bits are well mixed, for tables whose size is a power of two.
inline uint64_t hash_of(const MatchKey &key) {
    uint64_t mixed =
        key.context * 0x9e3779b97f4a7c15u ^
        (static_cast<uint64_t>(static_cast<uint32_t>(key.rank)) << 32 | static_cast<uint32_t>(key.tag));
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
    // The earliest posted receive that takes the message with this key (without wildcards), else nullptr. The
    // receive stays queued.
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
    uint64_t next_order_ = 0;        // the order number of the next entry that enters the hash
    MatchEntry *unfiled_ = nullptr;  // the first entry that is not in the hash
    std::vector<Bucket> buckets_;
    uint32_t filed_[4] = {};  // the number of entries in the hash, by form
    Promises promises_;
};

}  // namespace lanyard
