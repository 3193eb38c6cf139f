// The envelopes that were sent to one peer and have not been delivered there, with copies of their payload: what the flow cuts its packets from, as
// often as it must. A ring by sequence number; an empty log has no memory of its own, and the smallest rings are kept for whoever is next.
// Thread rule: the owner of the engine.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "path/dgram/flow.h"

namespace lanyard::dgram {

class EnvelopeLog {
public:
    struct Entry {
        static constexpr uint32_t near_bytes = 64;

        Envelope envelope;
        uint32_t size;
        std::unique_ptr<std::byte[]> far;  // of payload that is longer than near_bytes
        std::byte near[near_bytes];

        const std::byte *payload() const { return far ? far.get() : near; }
    };
    using Ring = std::unique_ptr<Entry[]>;
    static constexpr uint64_t least_entries = 16;
    static constexpr size_t most_spare = 64;

    uint64_t begin() const { return begin_; }
    uint64_t end() const { return end_; }
    bool empty() const { return begin_ == end_; }
    // Of the payload.
    size_t bytes() const { return bytes_; }
    const Entry &at(uint64_t sequence) const { return ring_[sequence & (entries_ - 1)]; }

    // Takes `payload`, advancing it.
    void append(const Envelope &envelope, Payload &payload, std::vector<Ring> &spare) {
        if (end_ - begin_ == entries_) grow(spare);
        Entry &entry = ring_[end_++ & (entries_ - 1)];
        entry.envelope = envelope;
        entry.size = static_cast<uint32_t>(payload.size);
        bytes_ += payload.size;
        if (payload.size > Entry::near_bytes) entry.far.reset(new std::byte[payload.size]);
        payload.copy(entry.far ? entry.far.get() : entry.near, payload.size);
    }
    // Forgets those before this one.
    void drop(uint64_t below, std::vector<Ring> &spare) {
        for (; begin_ < below; ++begin_) {
            Entry &entry = ring_[begin_ & (entries_ - 1)];
            bytes_ -= entry.size;
            entry.far.reset();
        }
        if (!empty() || !ring_) return;
        if (entries_ == least_entries && spare.size() < most_spare) spare.push_back(std::move(ring_));
        ring_.reset();
        entries_ = 0;
    }

private:
    void grow(std::vector<Ring> &spare) {
        Ring larger;
        if (entries_ == 0 && !spare.empty()) {
            larger = std::move(spare.back());
            spare.pop_back();
        } else {
            larger.reset(new Entry[entries_ ? 2 * entries_ : least_entries]);
        }
        uint64_t entries = entries_ ? 2 * entries_ : least_entries;
        for (uint64_t at = begin_; at < end_; ++at) larger[at & (entries - 1)] = std::move(ring_[at & (entries_ - 1)]);
        ring_ = std::move(larger);
        entries_ = entries;
    }

    Ring ring_;
    uint64_t entries_ = 0;  // a power of two
    uint64_t begin_ = 0, end_ = 0;
    size_t bytes_ = 0;
};

}  // namespace lanyard::dgram
