// Published is a pointer to an object that one thread, the owner, creates while other threads may read the
// pointer. The owner uses the pointer like a std::unique_ptr. Other threads see null or the whole object.
// Fields of the object that change later must be readable by any thread (tally.h). An assignment deletes the
// previous object at once, so the owner must not replace an object that other threads may still read.
// Tested by: tests/sim/processes_test.cc, tests/sim/datagrams_test.cc.
#pragma once

#include <atomic>
#include <memory>

namespace lanyard {

template <class T>
class Published {
public:
    Published() = default;
    ~Published() { delete get(); }
    Published(const Published &) = delete;
    Published &operator=(const Published &) = delete;

    // For the owner only, up to operator bool().
    Published &operator=(std::unique_ptr<T> made) {
        delete object_.exchange(made.release(), std::memory_order_acq_rel);
        return *this;
    }
    T *get() const { return object_.load(std::memory_order_relaxed); }
    T *operator->() const { return get(); }
    T &operator*() const { return *get(); }
    explicit operator bool() const { return get() != nullptr; }

    // For any thread.
    const T *seen() const { return object_.load(std::memory_order_acquire); }

private:
    std::atomic<T *> object_{nullptr};
};

}  // namespace lanyard
