// What every object behind an MPI handle begins with. Objects of a kind live in one ObjectPool (pool.h), so a handle
// can be checked by arithmetic and by the object's count of handles: memory of a pool stays mapped, a dead object counts 0. An
// object that the program has freed may live on, inside others or in an operation under way, but its handle is then refused.
#pragma once

#include <atomic>
#include <cstdint>

namespace lanyard {

struct Object {
    std::atomic<int32_t> references{1};  // handles and every use under way; the last to let go destroys it
    std::atomic<int32_t> handles{1};     // of these, such as the program has; not counted for a predefined object
    int32_t abi_value = 0;               // the ABI's constant when predefined, 0 for the program's own objects

    bool predefined() const { return abi_value != 0; }
    void hold() { references.fetch_add(1, std::memory_order_relaxed); }
    // True when this was the last reference: the caller destroys the object.
    bool let_go() {
        if (references.load(std::memory_order_acquire) != 1) return references.fetch_sub(1, std::memory_order_acq_rel) == 1;
        references.store(0, std::memory_order_relaxed);  // who has the only reference is alone with it
        return true;
    }
    // The program has one handle more, or one less, which is to be released then.
    void add_handle() {
        if (!predefined()) handles.fetch_add(1, std::memory_order_relaxed);
    }
    void end_handle() {
        if (!predefined()) handles.fetch_sub(1, std::memory_order_relaxed);
    }
};

// Lets a function of the program use the handle of an object that it is given, even if the program has freed that. Who calls the
// function holds the object.
class HandleLent {
public:
    explicit HandleLent(Object &object) : object_(object) { object_.handles.fetch_add(1, std::memory_order_relaxed); }
    ~HandleLent() { object_.handles.fetch_sub(1, std::memory_order_relaxed); }
    HandleLent(const HandleLent &) = delete;
    HandleLent &operator=(const HandleLent &) = delete;

private:
    Object &object_;
};

}  // namespace lanyard
