// The envelopes that were sent to one peer and have not been delivered there, with copies of their payload: what the flow cuts its packets from, as
// often as it must. A ring by sequence number; an empty log has no memory of its own, and some rings are kept for whoever is next.
// Thread rule: the owner of the engine.
#pragma once

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "path/dgram/flow.h"

namespace lanyard::dgram {

struct LogEntry {
    static constexpr uint32_t near_bytes = 64;

    Envelope envelope;
    uint32_t size;
    std::unique_ptr<std::byte[]> far;  // of payload that is longer than near_bytes
    std::byte near[near_bytes];

    const std::byte *payload() const { return far ? far.get() : near; }
};

struct LogRing {
    std::unique_ptr<LogEntry[]> entry;
    uint64_t entries = 0;  // a power of two, or none
};

// Rings of logs that are empty: the latest is the next to be used, of whatever size, as who has sent a lot will do so again. Bounded by their
// entries, so that many peers with little under way have one each, and one with much has it too.
class SpareRings {
public:
    static constexpr uint64_t most_entries = 256;  // 28 KiB

    LogRing take() {
        if (rings_.empty()) return {};
        LogRing ring = std::move(rings_.back());
        rings_.pop_back();
        entries_ -= ring.entries;
        return ring;
    }
    void give(LogRing ring) {
        if (ring.entries == 0 || entries_ + ring.entries > most_entries) return;
        entries_ += ring.entries;
        rings_.push_back(std::move(ring));
    }

private:
    std::vector<LogRing> rings_;
    uint64_t entries_ = 0;
};

class EnvelopeLog {
public:
    using Entry = LogEntry;
    static constexpr uint64_t least_entries = 2;  // as of a halo: the last message, and the next before the answer to that

    uint64_t begin() const { return begin_; }
    uint64_t end() const { return end_; }
    bool empty() const { return begin_ == end_; }
    // Of the payload.
    size_t bytes() const { return bytes_; }
    const Entry &at(uint64_t sequence) const { return ring_.entry[sequence & (ring_.entries - 1)]; }

    // Takes `payload`, advancing it.
    void append(const Envelope &envelope, Payload &payload, SpareRings &spare) {
        if (end_ - begin_ == ring_.entries) grow(spare);
        Entry &entry = ring_.entry[end_++ & (ring_.entries - 1)];
        entry.envelope = envelope;
        entry.size = static_cast<uint32_t>(payload.size);
        bytes_ += payload.size;
        if (payload.size > Entry::near_bytes) entry.far.reset(new std::byte[payload.size]);
        payload.copy(entry.far ? entry.far.get() : entry.near, payload.size);
    }
    // Forgets those before this one.
    void drop(uint64_t below, SpareRings &spare) {
        for (; begin_ < below; ++begin_) {
            Entry &entry = ring_.entry[begin_ & (ring_.entries - 1)];
            bytes_ -= entry.size;
            entry.far.reset();
        }
        if (empty()) spare.give(std::exchange(ring_, {}));
    }

private:
    void grow(SpareRings &spare) {
        LogRing larger;
        if (ring_.entries == 0) larger = spare.take();
        if (larger.entries == 0) {
            larger.entries = ring_.entries ? 2 * ring_.entries : least_entries;
            larger.entry.reset(new Entry[larger.entries]);
        }
        for (uint64_t at = begin_; at < end_; ++at)
            larger.entry[at & (larger.entries - 1)] = std::move(ring_.entry[at & (ring_.entries - 1)]);
        spare.give(std::exchange(ring_, std::move(larger)));
    }

    LogRing ring_;
    uint64_t begin_ = 0, end_ = 0;
    size_t bytes_ = 0;
};

}  // namespace lanyard::dgram
