// What a peer can name in a frame: a send whose offer it has, or a receive that waits for bytes. An id is a
// slot and its generation, so that an answer to something that ended long ago finds nothing.
//
//     63      52         30            8          0
//     |   0    | slot, up | generation  | slot, low |
//
// An id is thus below 2^30 while few are in use, and paths need few bytes for it. A slot repeats a generation
// after four million uses, each of which takes an answer of its peer. Any answer to the first of them has
// arrived or been lost long before.
// Thread rule: the owner of the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "path/envelope.h"

namespace lanyard {

// A protocol implements the events that its state objects can receive; all others are ignored. Called from
// inside a poll.
class Target {
public:
    Target() = default;
    Target(const Target &) = delete;
    Target &operator=(const Target &) = delete;

    // Where `size` bytes from `offset` on may be written before bulk() is called with them. nullptr: nowhere
    // yet.
    virtual std::byte *place(uint32_t /*peer*/, uint64_t /*offset*/, size_t /*size*/) { return nullptr; }
    virtual void bulk(uint32_t /*peer*/, uint64_t /*offset*/, const std::byte * /*payload*/,
                      size_t /*size*/) {}
    // An envelope of a kind without a handler (dispatch.h), whose context is this target's id.
    virtual void answer(uint32_t /*peer*/, const Envelope &, const std::byte * /*payload*/, size_t /*size*/) {
    }
    // Payload that the path took as `pending` has left its buffer (Sink::sent).
    virtual void sent() {}
    virtual void renewed(uint32_t /*peer*/) {}
    // That peer will not answer any more. May end this target, but no other.
    virtual void lost(uint32_t /*peer*/) {}

    uint64_t id() const { return id_; }

protected:
    ~Target() = default;

private:
    friend class TargetTable;
    uint64_t id_ = 0;  // 0: not in the table
};

class TargetTable {
public:
    // Gives the target an id that is never 0.
    void add(Target &target) {
        uint32_t slot;
        if (free_.empty()) {
            slot = static_cast<uint32_t>(rows_.size());
            rows_.push_back({});
        } else {
            slot = free_.back();
            free_.pop_back();
        }
        Row &row = rows_[slot];
        row.target = &target;
        row.generation = row.generation == last_generation ? 1 : row.generation + 1;
        target.id_ =
            static_cast<uint64_t>(slot >> low_bits) << 30 | row.generation << low_bits | (slot & low_slots);
    }
    Target *find(uint64_t id) const {
        uint64_t slot = slot_of(id);
        if (slot >= rows_.size() || rows_[slot].generation != (id >> low_bits & last_generation))
            return nullptr;
        return rows_[slot].target;
    }
    // Does nothing if the target has no id.
    void remove(Target &target) {
        if (!target.id_) return;
        uint64_t slot = slot_of(target.id_);
        rows_[slot].target = nullptr;
        free_.push_back(static_cast<uint32_t>(slot));
        target.id_ = 0;
    }
    // The visit may remove the target that it is given, and may add others.
    template <class Visit>
    void each(Visit visit) const {
        for (size_t i = 0; i < rows_.size(); ++i)
            if (rows_[i].target) visit(*rows_[i].target);
    }
    size_t count() const { return rows_.size() - free_.size(); }

private:
    static constexpr uint32_t low_bits = 8, low_slots = 0xff, last_generation = (1 << 22) - 1;

    static uint64_t slot_of(uint64_t id) { return id >> 30 << low_bits | (id & low_slots); }

    struct Row {
        Target *target = nullptr;
        uint32_t generation = 0;
    };
    std::vector<Row> rows_;
    std::vector<uint32_t> free_;
};

}  // namespace lanyard
