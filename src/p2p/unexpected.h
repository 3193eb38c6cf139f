// Stores the messages that arrived before their receives, in order of arrival. Used by the messenger. Reports
// read the stored messages.
//
// A million messages may wait. Each of them takes 56 bytes, plus 4 bytes for its check word if there are
// check words, plus at most 4 bytes as its share of the hash. Links are indices into the slab that holds the
// entries. The payload lies in the entry itself if it is short enough, else in separate memory.
// Order: a receive takes the earliest message that fits. Up to `few` messages are scanned in order. With more
// messages, a receive finds its message by a hash of (context, rank, tag). The messages of one bucket form a
// circle in order of arrival, and the bucket names the last of them. For a receive with wildcards the queue
// is still scanned. The hash is kept until the queue is empty. Entries and hash take no new memory once the
// queue has reached its size. When a long queue becomes empty, most of this memory is returned.
// Thread rule: the owner of the engine.
// Tested by: tests/unit/p2p/match_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/byte_pool.h"
#include "base/peak.h"
#include "base/slab.h"
#include "base/tally.h"
#include "p2p/match.h"
#include "path/envelope.h"

namespace lanyard {

// One stored message: eager, or an offer (rendezvous).
struct Unexpected : MatchKey {
    // The message's envelope, without its check word (UnexpectedQueue::check_of()), and with no flag except
    // flag_attended.
    Envelope envelope() const {
        return {.context = context, .source = rank, .tag = tag, .length = length(), .kind = kind(),
                .flags = attended ? flag_attended : uint8_t{0}, .credit = 0, .check = 0};
    }
    EnvelopeKind kind() const {
        return form == offer || form == kept_offer ? EnvelopeKind::rendezvous : EnvelopeKind::eager;
    }
    // The length of the whole message.
    uint64_t length() const { return form <= inline_payload ? form : in_parts.length; }
    // The payload that arrived with the envelope.
    const std::byte *payload() const {
        return form < kept ? form == offer ? in_parts.offer : inlined : in_parts.elsewhere.payload;
    }
    size_t size() const { return form < kept ? form == offer ? offer_bytes : form : in_parts.elsewhere.size; }

    static constexpr size_t offer_bytes = 16;
    static constexpr uint32_t most_peers = 1 << 26;

    uint32_t next, previous;  // in the queue; once a message is taken out, `next` is its own index
    uint32_t next_in_bucket;
    uint32_t peer : 26;
    uint32_t attended : 1;  // flag_attended
    enum Form : uint32_t { offer = inline_payload + 1, kept, kept_offer };
    // Which part of the union is valid; up to inline_payload: `inlined`, with this many bytes.
    uint32_t form : 5;
    struct Elsewhere {
        std::byte *payload;
        size_t size;
    };
    struct InParts {
        uint64_t length;
        union {
            std::byte offer[offer_bytes];
            Elsewhere elsewhere;  // `kept` and `kept_offer`
        };
    };
    union {
        std::byte inlined[inline_payload];
        InParts in_parts;
    };
};
static_assert(sizeof(Unexpected) == 56);
static_assert(Unexpected::kept_offer < 1 << 5);

class UnexpectedQueue {
public:
    UnexpectedQueue() = default;
    ~UnexpectedQueue();
    UnexpectedQueue(const UnexpectedQueue &) = delete;
    UnexpectedQueue &operator=(const UnexpectedQueue &) = delete;

    // Stores a message and copies its payload.
    Unexpected &add(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size);
    // The earliest message that a receive with this key takes, else nullptr. The message stays queued.
    Unexpected *find(const MatchKey &receive) {
        if (count_ == 0) return nullptr;
        Unexpected &first = slab_.at(first_);
        return fits(receive, first) ? &first : find_behind_first(receive);
    }
    // Takes a message out of the queue. The message stays valid until drop().
    void take(Unexpected &message);
    void drop(Unexpected &taken) {
        if (taken.form >= Unexpected::kept) free_payload(taken);
        slab_.give(taken.next);
    }

    Unexpected *first() { return first_ == none ? nullptr : &slab_.at(first_); }
    Unexpected *after(const Unexpected &message) {
        return message.next == none ? nullptr : &slab_.at(message.next);
    }
    // The check word of a message that has been taken.
    uint32_t check_of(const Unexpected &taken) const {
        return taken.next < checks_.size() ? checks_[taken.next] : 0;
    }
    size_t count() const { return count_; }
    // How many messages were ever added, and the most that were queued at a time.
    uint64_t added() const { return added_; }
    Peak &most() { return most_; }
    // Payload in separate memory, including that of messages that have been taken.
    size_t payload_bytes() const { return payload_bytes_; }
    Peak &most_payload_bytes() { return most_payload_bytes_; }
    // bytes(): all other memory in use. reserved_bytes(): all memory reserved for entries.
    size_t bytes() const {
        return slab_.bytes() + (buckets_.capacity() + checks_.capacity()) * sizeof(uint32_t);
    }
    size_t reserved_bytes() const { return slab_.reserved_bytes(); }
    // Returns unused memory to the operating system.
    void give_back() {
        payloads_.shrink();
        slab_.give_back();
    }

private:
    static constexpr uint32_t none = Slab<Unexpected>::none;
    static constexpr size_t few = 8, least_checks = 64;
    static constexpr size_t least_buckets = 64, most_idle_buckets = 4096;

    Unexpected *find_behind_first(const MatchKey &receive);
    void hold(Unexpected &message, const Envelope &envelope, const std::byte *payload, size_t size);
    void free_payload(Unexpected &message);
    void keep_check(uint32_t index, uint32_t check);
    uint32_t &bucket_of(const MatchKey &key) { return buckets_[hash_of(key) & (buckets_.size() - 1)]; }
    void file(uint32_t index, Unexpected &message);
    void unfile(uint32_t index, const Unexpected &message);
    void build(size_t buckets);

    Slab<Unexpected> slab_;
    BytePool payloads_;
    uint32_t first_ = none, last_ = none;
    Tally<size_t> count_, payload_bytes_;
    Tally<uint64_t> added_;
    Peak most_, most_payload_bytes_;
    bool hashed_ = false;
    std::vector<uint32_t> checks_;  // by index in the slab; empty until the first check word
    // The last message of each bucket, or `none`. The number of buckets is a power of two. While the hash is
    // not in use, all entries are `none`.
    std::vector<uint32_t> buckets_;
};

}  // namespace lanyard
