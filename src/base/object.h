// What every object behind an MPI handle begins with. Objects of a kind live in one ObjectPool (pool.h), so a handle
// can be checked by arithmetic and by its reference count: memory of a pool stays mapped, a dead object counts 0.
#pragma once

#include <atomic>
#include <cstdint>

namespace lanyard {

struct Object {
    std::atomic<int32_t> references{1};  // the handle and every use under way; the last to let go destroys it
    int32_t abi_value = 0;               // the ABI's constant when predefined, 0 for the program's own objects

    bool predefined() const { return abi_value != 0; }
    void hold() { references.fetch_add(1, std::memory_order_relaxed); }
    // True when this was the last reference: the caller destroys the object.
    bool let_go() {
        if (references.load(std::memory_order_acquire) != 1) return references.fetch_sub(1, std::memory_order_acq_rel) == 1;
        references.store(0, std::memory_order_relaxed);  // who has the only reference is alone with it
        return true;
    }
};

}  // namespace lanyard
