// Allocates the node areas of communicators (coll/shm/node_area.h) in the node's segment. A process reuses
// the areas that it has released.
//
// Programs that create and free one communicator after another use the same areas again and again, so some
// memory is kept. Unused areas keep their memory as long as all unused areas of the node have together at
// most `most_idle` bytes. Areas that this process has closed stay mapped as long as they have together at
// most `most_closed` bytes. Everything else is returned to the system at once, except the first page of each
// area.
// The segment must outlive this object. NodeMemory (comm/universe.h) states the contract of each function.
// Thread rule: any thread. A spin lock is held for short times.
#pragma once

#include <map>
#include <vector>

#include "base/spin_lock.h"
#include "comm/universe.h"
#include "path/shm/segment.h"

namespace lanyard {

class SegmentMemory final : public NodeMemory {
public:
    static constexpr size_t most_idle = size_t{4} << 20, most_closed = size_t{2} << 20;

    explicit SegmentMemory(Segment &segment) : segment_(segment) {}
    ~SegmentMemory() override;

    bool allocate(size_t bytes, uint64_t &offset) override;
    std::byte *open(uint64_t offset, size_t bytes) override;
    void close(uint64_t offset, std::byte *memory, size_t bytes) override;
    bool empty(uint64_t offset, size_t bytes) override;
    void release(uint64_t offset, size_t bytes, bool emptied) override;

private:
    struct Released {
        uint64_t offset;
        bool emptied;
    };
    struct Closed {
        uint64_t offset;
        std::byte *memory;
        size_t bytes;
    };
    bool reuse(size_t bytes, Released area);

    Segment &segment_;
    SpinLock lock_;
    std::multimap<size_t, Released> released_;  // areas that can be reused, by length
    std::vector<Closed> closed_;                // the oldest first
    size_t closed_bytes_ = 0;
};

}  // namespace lanyard
