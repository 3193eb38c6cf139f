// A target is an object that a peer can name in a frame by an id: a send that was offered to the peer, or a
// receive that is announced or waits for bytes. A path also names a send by its id, as the token of
// Sink::sent(). An id consists of a slot in a table and the slot's generation, so that a late answer to an
// object that has ended finds nothing.
//
//     63      54         30            8          0
//     | 0      | slot, high | generation | slot, low |
//
// As long as at most 256 ids have been in use at a time, each id is thus below 2^30, and paths need few bytes
// for it. A slot repeats a generation after four million uses. By then, any answer to the first use has
// arrived or been lost.
// Thread rule: the owner of the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "path/envelope.h"

namespace lanyard {

// The base class of a protocol's state objects. A protocol overrides the functions for the events that its
// objects can receive; all other events are ignored. The functions are called from inside a poll, so they
// must not wait. A target belongs to its protocol, which removes the target from the table before destroying
// it. `payload` is valid only during the call.
class Target {
public:
    Target() = default;
    Target(const Target &) = delete;
    Target &operator=(const Target &) = delete;

    // The address to which the path may write `size` bytes of the message, from `offset` on, before it calls
    // bulk() for them. nullptr: there is no such address, and the path keeps them elsewhere until bulk().
    virtual std::byte *place(uint32_t /*peer*/, uint64_t /*offset*/, size_t /*size*/) { return nullptr; }
    virtual void bulk(uint32_t /*peer*/, uint64_t /*offset*/, const std::byte * /*payload*/,
                      size_t /*size*/) {}
    // An envelope has arrived whose kind has no handler (dispatch.h) and whose context is this target's id.
    virtual void answer(uint32_t /*peer*/, const Envelope &, const std::byte * /*payload*/, size_t /*size*/) {
    }
    // Payload that the path took as `pending` has left the memory in which it lay (Sink::sent).
    virtual void sent() {}
    virtual void renewed(uint32_t /*peer*/) {}
    // That peer has failed and will not answer any more. The function may end this target, but no other.
    virtual void lost(uint32_t /*peer*/) {}

    // The id; 0 if this target is not in the table.
    uint64_t id() const { return id_; }

protected:
    ~Target() = default;

private:
    friend class TargetTable;
    uint64_t id_ = 0;  // 0: not in the table
};

class TargetTable {
public:
    // Gives the target an id that is never 0. The target must not be in the table.
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
    // The target with this id, or nullptr if there is none. `id` may be any number, since a peer has sent it.
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
    // Calls `visit` for each target. `visit` may remove the target that is passed to it, and may add others.
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
