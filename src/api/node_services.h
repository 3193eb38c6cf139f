// What the shared-memory path offers to collectives and communicators: memory of the node, and reach of its processes.
#pragma once

#include <cstring>
#include <map>

#include "base/spin_lock.h"
#include "coll/node_reach.h"
#include "comm/universe.h"
#include "path/shm/shm_path.h"

namespace lanyard {

class ShmReach final : public NodeReach {
public:
    explicit ShmReach(ShmPath &path) : path_(path) {}
    bool asleep(uint32_t peer) override { return path_.asleep(peer); }
    void wake(uint32_t peer) override { path_.wake(peer); }
    Error read(uint32_t peer, uint64_t address, std::byte *to, size_t bytes) override {
        iovec local{to, bytes};
        return path_.get(peer, &local, 1, address, bytes);
    }
    std::byte *share(size_t bytes, uint64_t &offset) override {
        offset = path_.segment().append_area(bytes);
        return offset ? path_.segment().at(offset) : nullptr;
    }
    std::byte *at(uint64_t offset) override { return path_.segment().at(offset); }

private:
    ShmPath &path_;
};

// Memory at the end of the segment. What this process gives back it hands out again itself.
class SegmentMemory final : public NodeMemory {
public:
    explicit SegmentMemory(Segment &segment) : segment_(segment) {}

    std::byte *allocate(size_t bytes, uint64_t &offset) override {
        bytes = rounded(bytes);
        SpinGuard guard(lock_);
        if (auto kept = released_.find(bytes); kept != released_.end()) {
            offset = kept->second;
            released_.erase(kept);
            std::memset(segment_.at(offset), 0, bytes);
            return segment_.at(offset);
        }
        offset = segment_.append_area(bytes);
        return offset ? segment_.at(offset) : nullptr;
    }
    std::byte *at(uint64_t offset) override { return segment_.at(offset); }
    void release(uint64_t offset, size_t bytes) override {
        SpinGuard guard(lock_);
        released_.emplace(rounded(bytes), offset);
    }

private:
    static size_t rounded(size_t bytes) { return (bytes + line_bytes - 1) / line_bytes * line_bytes; }

    Segment &segment_;
    SpinLock lock_;
    std::multimap<size_t, uint64_t> released_;
};

}  // namespace lanyard
