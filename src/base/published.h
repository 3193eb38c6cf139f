// An object that one thread creates once, while others may read it. It is a std::unique_ptr to its owner. Any
// thread sees null or the whole object. Fields that change must be readable by any thread (tally.h).
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

    // By the owner.
    Published &operator=(std::unique_ptr<T> made) {
        delete object_.exchange(made.release(), std::memory_order_acq_rel);
        return *this;
    }
    T *get() const { return object_.load(std::memory_order_relaxed); }
    T *operator->() const { return get(); }
    T &operator*() const { return *get(); }
    explicit operator bool() const { return get() != nullptr; }

    // By any thread.
    const T *seen() const { return object_.load(std::memory_order_acquire); }

private:
    std::atomic<T *> object_{nullptr};
};

}  // namespace lanyard
