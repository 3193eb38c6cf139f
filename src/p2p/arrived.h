// Records which bytes of a message have arrived: all bytes before offset end(), and some ranges behind it.
// Bytes that arrive twice count once.
// Thread rule: values without a lock; a thread uses its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace lanyard {

class Arrived {
public:
    // All bytes before this offset have arrived.
    uint64_t end() const { return end_; }
    void clear() {
        end_ = 0;
        beyond_.clear();
    }
    // Have any of these bytes arrived already?
    bool has_some(uint64_t begin, uint64_t end) const {
        auto overlaps = [=](const Range &range) { return range.begin < end && begin < range.end; };
        return begin < end_ || std::any_of(beyond_.begin(), beyond_.end(), overlaps);
    }
    void add(uint64_t begin, uint64_t end) {
        if (begin > end_) return put_beyond({begin, end});
        end_ = std::max(end_, end);
        size_t joined = 0;
        while (joined < beyond_.size() && beyond_[joined].begin <= end_)
            end_ = std::max(end_, beyond_[joined++].end);
        beyond_.erase(beyond_.begin(), beyond_.begin() + static_cast<std::ptrdiff_t>(joined));
    }

private:
    struct Range {
        uint64_t begin, end;
    };

    void put_beyond(Range range) {
        auto place = std::lower_bound(beyond_.begin(), beyond_.end(), range,
                                      [](const Range &a, const Range &b) { return a.begin < b.begin; });
        beyond_.insert(place, range);
    }

    uint64_t end_ = 0;
    std::vector<Range> beyond_;  // ordered by their beginnings; they may overlap
};

}  // namespace lanyard
