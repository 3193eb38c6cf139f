// ShmReach lets shared-memory collectives use the shared-memory path. Through it they wake the other
// processes of the node, read their memory, and share memory with them. The path must outlive this object.
// Thread rule: the owner of the engine, as in NodeReach.
// Tested by: tests/failures/test_machine.py.
#pragma once

#include <vector>

#include "base/no_memory.h"
#include "coll/shm/node_reach.h"
#include "path/shm/shm_path.h"

namespace lanyard {

class ShmReach final : public NodeReach {
public:
    explicit ShmReach(ShmPath &path) : path_(path) {}
    bool asleep(uint32_t peer) override { return path_.asleep(peer); }
    void wake(uint32_t peer) override { path_.wake(peer); }
    Error read(uint32_t peer, uint64_t address, std::byte *to, size_t bytes) override {
        iovec local{to, bytes};
        return path_.memory().get(peer, &local, 1, address, bytes);
    }
    const std::byte *mapped(uint32_t peer, uint64_t address, size_t bytes) override {
        return path_.memory().mapped(peer, address, bytes);
    }
    std::byte *share(size_t bytes, uint64_t &offset) override {
        offset = path_.segment().append_area(bytes);
        if (!offset) return nullptr;
        std::byte *memory = path_.segment().map(offset, bytes);
        if (memory) seen_.push_back({offset, memory});
        return memory;
    }
    // The list `seen_` is short, because each process of the node shares only one range of memory.
    std::byte *at(uint64_t offset, size_t bytes) override {
        for (const Seen &seen : seen_)
            if (seen.offset == offset) return seen.memory;
        std::byte *memory = path_.segment().map(offset, bytes);
        if (!memory) end_without_memory();
        seen_.push_back({offset, memory});
        return memory;
    }

private:
    struct Seen {
        uint64_t offset;
        std::byte *memory;
    };
    ShmPath &path_;
    std::vector<Seen> seen_;
};

}  // namespace lanyard
