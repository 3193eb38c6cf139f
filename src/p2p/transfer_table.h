// Names transfers to peers: an id is a slot and its generation, so that an answer to something long over finds nothing.
//
//     63      52         30            8          0
//     |   0    | slot, up | generation  | slot, low |
//
// So it is below 2^30 while few are under way, and paths need few bytes for it. A slot comes back to its generation after four million transfers,
// each of which takes an answer of its peer's: what is still on its way then for the first of them was lost long ago.
#pragma once

#include <cstdint>
#include <vector>

namespace lanyard {

struct Transfer;

class TransferTable {
public:
    // An id that is never 0.
    uint64_t add(Transfer &transfer) {
        uint32_t slot;
        if (free_.empty()) {
            slot = static_cast<uint32_t>(rows_.size());
            rows_.push_back({});
        } else {
            slot = free_.back();
            free_.pop_back();
        }
        Row &row = rows_[slot];
        row.transfer = &transfer;
        row.generation = row.generation == last_generation ? 1 : row.generation + 1;
        return static_cast<uint64_t>(slot >> low_bits) << 30 | row.generation << low_bits | (slot & low_slots);
    }
    Transfer *find(uint64_t id) const {
        uint64_t slot = slot_of(id);
        if (slot >= rows_.size() || rows_[slot].generation != (id >> low_bits & last_generation)) return nullptr;
        return rows_[slot].transfer;
    }
    void remove(uint64_t id) {
        uint64_t slot = slot_of(id);
        rows_[slot].transfer = nullptr;
        free_.push_back(static_cast<uint32_t>(slot));
    }
    template <class Visit>
    void each(Visit visit) const {
        for (size_t i = 0; i < rows_.size(); ++i)
            if (rows_[i].transfer) visit(*rows_[i].transfer);
    }
    size_t count() const { return rows_.size() - free_.size(); }

private:
    static constexpr uint32_t low_bits = 8, low_slots = 0xff, last_generation = (1 << 22) - 1;

    static uint64_t slot_of(uint64_t id) { return id >> 30 << low_bits | (id & low_slots); }

    struct Row {
        Transfer *transfer = nullptr;
        uint32_t generation = 0;
    };
    std::vector<Row> rows_;
    std::vector<uint32_t> free_;
};

}  // namespace lanyard
