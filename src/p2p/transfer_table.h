// Names transfers to peers: an id is a slot and its generation, so that an answer to something long over finds nothing.
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
        rows_[slot].transfer = &transfer;
        return static_cast<uint64_t>(++rows_[slot].generation) << 32 | slot;
    }
    Transfer *find(uint64_t id) const {
        uint32_t slot = static_cast<uint32_t>(id);
        if (slot >= rows_.size() || rows_[slot].generation != id >> 32) return nullptr;
        return rows_[slot].transfer;
    }
    void remove(uint64_t id) {
        uint32_t slot = static_cast<uint32_t>(id);
        rows_[slot].transfer = nullptr;
        free_.push_back(slot);
    }
    template <class Visit>
    void each(Visit visit) const {
        for (size_t i = 0; i < rows_.size(); ++i)
            if (rows_[i].transfer) visit(*rows_[i].transfer);
    }
    size_t count() const { return rows_.size() - free_.size(); }

private:
    struct Row {
        Transfer *transfer = nullptr;
        uint32_t generation = 0;
    };
    std::vector<Row> rows_;
    std::vector<uint32_t> free_;
};

}  // namespace lanyard
