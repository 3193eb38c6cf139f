// Stores the envelopes that were sent to one peer and have not been delivered there, with copies of their
// payload. The flow (flow.h) composes its packets from these copies as often as it must. Each envelope has an
// entry, which is as long as its payload requires. A ring, indexed by sequence number, contains the addresses
// of the entries. Entries and ring come from a pool that all logs of a process share. An empty log thus has
// no memory of its own, and memory that the logs needed only at a peak can be returned. The owner drops all
// entries before it destroys a log.
// Thread rule: the owner of the engine.
#pragma once

#include <new>

#include "base/byte_pool.h"
#include "path/dgram/flow.h"

namespace lanyard::dgram {

// One envelope. Its payload lies directly behind the entry.
struct LogEntry {
    Envelope envelope;
    uint32_t size;

    static size_t bytes_with(size_t payload) { return sizeof(LogEntry) + payload; }
    const std::byte *payload() const { return reinterpret_cast<const std::byte *>(this + 1); }
};

class EnvelopeLog {
public:
    using Entry = LogEntry;
    static constexpr uint32_t least_entries = BytePool::step / sizeof(void *);

    uint64_t begin() const { return begin_; }
    uint64_t end() const { return end_; }
    bool empty() const { return begin_ == end_; }
    // The bytes of all entries with their payload.
    size_t bytes() const { return bytes_; }
    const Entry &at(uint64_t sequence) const { return *place(sequence); }

    // Copies `payload` and advances it.
    void append(const Envelope &envelope, Payload &payload, BytePool &pool) {
        if (end_ - begin_ == entries_) grow(pool);
        size_t bytes = Entry::bytes_with(payload.size);
        std::byte *room = pool.take(bytes);
        place(end_++) = new (room) Entry{envelope, static_cast<uint32_t>(payload.size)};
        bytes_ += bytes;
        payload.copy(room + sizeof(Entry), payload.size);
    }
    // Drops the entries before this one.
    void drop(uint64_t below, BytePool &pool) {
        for (; begin_ < below; ++begin_) {
            Entry *entry = place(begin_);
            size_t bytes = Entry::bytes_with(entry->size);
            bytes_ -= bytes;
            pool.give(reinterpret_cast<std::byte *>(entry), bytes);
        }
        if (empty()) give_ring(pool);
    }

private:
    Entry *&place(uint64_t sequence) const { return ring_[sequence & (entries_ - 1)]; }
    void grow(BytePool &pool) {
        uint32_t entries = entries_ ? 2 * entries_ : least_entries;
        auto **larger = reinterpret_cast<Entry **>(pool.take(entries * sizeof(Entry *)));
        for (uint64_t at = begin_; at < end_; ++at) larger[at & (entries - 1)] = place(at);
        give_ring(pool);
        ring_ = larger;
        entries_ = entries;
    }
    void give_ring(BytePool &pool) {
        if (entries_) pool.give(reinterpret_cast<std::byte *>(ring_), entries_ * sizeof(Entry *));
        entries_ = 0;
    }

    Entry **ring_ = nullptr;
    uint32_t entries_ = 0;  // capacity of the ring: a power of two, or 0
    uint64_t begin_ = 0, end_ = 0;
    size_t bytes_ = 0;
};

}  // namespace lanyard::dgram
