// Object is the base class of every object behind an MPI handle. All objects of one kind are in one
// ObjectPool (pool.h), so a handle is checked by arithmetic and by the object's count of handles. The memory
// of a pool stays mapped, and the slot of a destroyed object has the count 0. An object that the program has
// freed may still be used by other objects or by an operation under way, but its handle is refused.
// Thread rule: any thread that holds a reference.
// Tested by: tests/unit/base/pool_test.cc, tests/unit/base/spin_lock_test.cc.
#pragma once

#include <atomic>
#include <cstdint>

namespace lanyard {

struct Object {
    // Handles and other uses of the object. The code that releases the last reference destroys the object.
    std::atomic<int32_t> references{1};
    std::atomic<int32_t> handles{1};     // handles that the program has; not counted for a predefined object
    int32_t abi_value = 0;               // the ABI's constant if predefined, 0 for the program's own objects

    bool predefined() const { return abi_value != 0; }
    void hold() { references.fetch_add(1, std::memory_order_relaxed); }
    // Releases a reference. True if it was the last one; then the caller must destroy the object.
    bool let_go() {
        if (references.load(std::memory_order_acquire) != 1)
            return references.fetch_sub(1, std::memory_order_acq_rel) == 1;
        references.store(0, std::memory_order_relaxed);  // no other thread can have a reference
        return true;
    }
    // Count a handle that the program has received, or has freed. A caller of end_handle() must also release
    // the reference that belongs to the handle.
    void add_handle() {
        if (!predefined()) handles.fetch_add(1, std::memory_order_relaxed);
    }
    void end_handle() {
        if (!predefined()) handles.fetch_sub(1, std::memory_order_relaxed);
    }
};

// Keeps a handle valid while it is passed to a function of the program, even if the program has freed the
// handle. The caller holds a reference to the object.
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
