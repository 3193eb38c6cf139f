// The beginning of every object behind an MPI handle. Objects of a kind live in one ObjectPool (pool.h), so a
// handle is checked by arithmetic and by the object's count of handles. The memory of a pool stays mapped,
// and a dead object has the count 0. An object that the program has freed may live on, in other objects or in
// an operation under way, but its handle is refused.
// Thread rule: any thread that holds a reference.
#pragma once

#include <atomic>
#include <cstdint>

namespace lanyard {

struct Object {
    // Handles, and uses under way; the code that releases the last one destroys the object.
    std::atomic<int32_t> references{1};
    std::atomic<int32_t> handles{1};     // those that the program has; not counted for a predefined object
    int32_t abi_value = 0;               // the ABI's constant if predefined, 0 for the program's own objects

    bool predefined() const { return abi_value != 0; }
    void hold() { references.fetch_add(1, std::memory_order_relaxed); }
    // True if this was the last reference: the caller destroys the object.
    bool let_go() {
        if (references.load(std::memory_order_acquire) != 1)
            return references.fetch_sub(1, std::memory_order_acq_rel) == 1;
        references.store(0, std::memory_order_relaxed);  // the holder of the only reference has no competitor
        return true;
    }
    // The program has one handle more, or one less. After end_handle() the caller also releases the reference
    // that belongs to the handle.
    void add_handle() {
        if (!predefined()) handles.fetch_add(1, std::memory_order_relaxed);
    }
    void end_handle() {
        if (!predefined()) handles.fetch_sub(1, std::memory_order_relaxed);
    }
};

// Lets a function of the program use the handle of an object that is passed to it, even if the program has
// freed the handle. The caller holds a reference to the object.
class HandleLent {
public:
    explicit HandleLent(Object &object) : object_(object) {
        object_.handles.fetch_add(1, std::memory_order_relaxed);
    }
    ~HandleLent() { object_.handles.fetch_sub(1, std::memory_order_relaxed); }
    HandleLent(const HandleLent &) = delete;
    HandleLent &operator=(const HandleLent &) = delete;

private:
    Object &object_;
};

}  // namespace lanyard
