// Objects of one type in one reserved range of addresses: an address is checked, and turned into a small integer and
// back, by arithmetic alone. Slots that were freed rest for a while, so that a handle that is used after its object has ended is found out.
// Grows page by page within the range; never shrinks; thread-safe (one short spin lock).
// T derives from Object, whose counts say whether a slot is alive, and whether its handle is. Slots are a power of two apart, so that the check
// is a mask; PoolView makes it without knowing T.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "base/leak_roots.h"
#include "base/object.h"
#include "base/spin_lock.h"

namespace lanyard {

// What is needed to tell whether an address is an object of some pool that the program has a handle of.
struct PoolView {
    const std::byte *base = nullptr;
    const std::atomic<size_t> *made_bytes = nullptr;
    size_t stride_mask = 0;

    // Any bit pattern may be asked.
    bool holds(const void *address) const {
        if (!made_bytes) return false;
        size_t offset = reinterpret_cast<size_t>(address) - reinterpret_cast<size_t>(base);
        if (offset >= made_bytes->load(std::memory_order_acquire) || (offset & stride_mask) != 0) return false;
        return static_cast<const Object *>(address)->handles.load(std::memory_order_relaxed) > 0;
    }
};

template <class T>
class ObjectPool {
public:
    static constexpr size_t stride = std::bit_ceil(std::max<size_t>(sizeof(T), 64));

    // So many freed slots are not used again while there are others. 0: the slot freed last is taken next, being in the cache.
    static constexpr size_t usual_rest = 64;

    explicit ObjectPool(size_t capacity = size_t{1} << 20, size_t rest = usual_rest) : capacity_(capacity), rest_(rest) {
        static_assert(std::is_base_of_v<Object, T>);
        void *range = mmap(nullptr, capacity * stride, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        base_ = range == MAP_FAILED ? nullptr : static_cast<std::byte *>(range);
        if (base_) register_leak_root(base_, capacity * stride);
    }
    ~ObjectPool() {
        for (size_t i = 0; i < made(); ++i) {
            T *object = at(i);
            if (object) object->~T();
        }
        if (!base_) return;
        unregister_leak_root(base_, capacity_ * stride);
        munmap(base_, capacity_ * stride);
    }
    ObjectPool(const ObjectPool &) = delete;
    ObjectPool &operator=(const ObjectPool &) = delete;

    // A new object, or nullptr when memory or the range is exhausted.
    template <class... Arguments>
    T *create(Arguments &&...arguments) {
        std::byte *slot = take_slot();
        return slot ? new (slot) T(std::forward<Arguments>(arguments)...) : nullptr;
    }
    void destroy(T *object) {
        object->~T();
        auto *slot = reinterpret_cast<std::byte *>(object);
        new (slot) Dead;
        SpinGuard guard(lock_);
        ++free_count_;
        if (rest_ == 0 || !free_) {
            reinterpret_cast<Dead *>(slot)->next = free_;
            if (!free_) last_free_ = slot;
            free_ = slot;
        } else {
            reinterpret_cast<Dead *>(last_free_)->next = slot;
            last_free_ = slot;
        }
    }

    PoolView view() const { return {base_, &made_bytes_, stride - 1}; }
    bool holds(const void *address) const { return view().holds(address); }
    size_t index(const T *object) const { return static_cast<size_t>(reinterpret_cast<const std::byte *>(object) - base_) / stride; }
    // The live object with this index, else nullptr.
    T *at(size_t index) const {
        if (index >= made()) return nullptr;
        auto *object = reinterpret_cast<Object *>(base_ + index * stride);
        return object->references.load(std::memory_order_relaxed) > 0 ? static_cast<T *>(object) : nullptr;
    }
    // Visits every live object, for reports of leaked handles.
    template <class Visit>
    void each(Visit visit) const {
        for (size_t i = 0; i < made(); ++i)
            if (T *object = at(i)) visit(*object);
    }

private:
    struct Dead : Object {
        Dead() : Object{0, 0} {}  // at no moment alive to a thread that asks
        std::byte *next = nullptr;
    };

    size_t made() const { return made_bytes_.load(std::memory_order_acquire) / stride; }
    std::byte *take_slot() {
        SpinGuard guard(lock_);
        if (free_count_ > rest_) return take_free();
        if (made() == usable_ && !grow()) return free_ ? take_free() : nullptr;
        size_t bytes = made() * stride;
        std::byte *slot = base_ + bytes;
        new (slot) Dead;
        made_bytes_.store(bytes + stride, std::memory_order_release);
        return slot;
    }
    std::byte *take_free() {
        std::byte *slot = free_;
        free_ = reinterpret_cast<Dead *>(slot)->next;
        --free_count_;
        return slot;
    }
    bool grow() {
        constexpr size_t page = 4096;
        size_t wanted = std::min(capacity_, std::max<size_t>(usable_ * 2, 64));
        size_t bytes = std::min((wanted * stride + page - 1) / page * page, capacity_ * stride);
        if (!base_ || wanted == usable_ || mprotect(base_, bytes, PROT_READ | PROT_WRITE) != 0) return false;
        usable_ = wanted;
        return true;
    }

    std::byte *base_ = nullptr;
    size_t capacity_;
    size_t usable_ = 0;             // slots whose memory may be touched
    std::atomic<size_t> made_bytes_ = 0;  // of slots ever used
    std::byte *free_ = nullptr, *last_free_ = nullptr;
    size_t free_count_ = 0;
    size_t rest_;
    SpinLock lock_;
};

}  // namespace lanyard
