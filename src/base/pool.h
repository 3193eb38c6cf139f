// A pool of objects of one type. The objects lie in slots, in a few ranges of addresses. Checking an address,
// and converting it to a small integer (the index) and back, needs arithmetic only. Freed slots stay unused
// for a while, so that the use of a handle whose object has ended is detected.
//
// The first range is small, because the address space may be limited (ulimit -v). When a range is full, the
// next one is added, four times as long, or as long as the system and the pool's capacity allow. A range
// fills from its beginning and never moves. So an object's index is the number of slots in all earlier
// ranges, plus its place in its own range. Nearly all programs stay within the first range, whose checks are
// inlined. The other ranges are searched from the newest, which is usually the longest, to the oldest.
//
// T derives from Object, whose counts show whether a slot contains a live object and whether the program has
// a handle for it. The distance between slots is a power of two bytes, so whether an address is the beginning
// of a slot is checked with a mask. PoolView makes this check without knowing T. A pool never shrinks.
// Thread rule: any thread. create() and destroy() take a spin lock for a short time.
#pragma once

#include <atomic>
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "base/object.h"
#include "base/spin_lock.h"

namespace lanyard {

struct PoolRange {
    std::byte *base = nullptr;
    size_t first = 0;                   // the index of the range's first slot
    size_t slots = 0;                   // the number of slots for which addresses are reserved
    size_t usable = 0;                  // the number of slots whose memory may be touched
    std::atomic<size_t> made_bytes{0};  // the bytes of all slots that have ever been used
};

// The ranges of a pool. Thread rule: `add` and `open_more` only under the pool's lock, the other functions in
// any thread.
class PoolRanges {
public:
    static constexpr size_t first_bytes = size_t{2} << 20;

    // Creates the first range. The range has no slots if no addresses are available.
    PoolRanges(size_t stride, size_t capacity);
    ~PoolRanges();
    PoolRanges(const PoolRanges &) = delete;
    PoolRanges &operator=(const PoolRanges &) = delete;

    PoolRange &at(uint32_t number) { return ranges_[number]; }
    const PoolRange &at(uint32_t number) const { return ranges_[number]; }
    uint32_t count() const { return count_.load(std::memory_order_acquire); }
    PoolRange &newest() { return ranges_[count() - 1]; }
    // The range that contains this address, in a slot that has ever been used; nullptr if there is none.
    [[gnu::noinline]] const PoolRange *with_address(const void *address) const {
        for (uint32_t number = count(); number-- > 0;) {
            const PoolRange &range = ranges_[number];
            size_t offset = reinterpret_cast<size_t>(address) - reinterpret_cast<size_t>(range.base);
            if (offset < range.made_bytes.load(std::memory_order_acquire)) return &range;
        }
        return nullptr;
    }
    // The range with the slot of this index, if that slot has ever been used; otherwise nullptr.
    [[gnu::noinline]] const PoolRange *with_index(size_t index) const {
        for (uint32_t number = count(); number-- > 0;) {
            const PoolRange &range = ranges_[number];
            if (index < range.first) continue;
            bool made = index - range.first < range.made_bytes.load(std::memory_order_acquire) / stride_;
            return made ? &range : nullptr;
        }
        return nullptr;
    }

    // Adds a range, within the pool's capacity. False if the capacity, the number of ranges or the system's
    // addresses are used up.
    bool add();
    // Makes more slots of the newest range usable. If all its slots are usable already, adds a range first.
    // False if no range can be added or the system provides no memory.
    bool open_more();

private:
    static constexpr uint32_t most = 24;

    size_t stride_, capacity_;
    PoolRange ranges_[most];
    std::atomic<uint32_t> count_{1};
};

// Decides whether an address is that of an object of a pool, and whether the program has a handle for the
// object. A view without a pool contains no objects.
struct PoolView {
    static inline const std::atomic<size_t> none_made{0};

    const PoolRanges *ranges = nullptr;
    const std::byte *base = nullptr;  // `base` and `made_bytes` are those of the first range
    const std::atomic<size_t> *made_bytes = &none_made;
    size_t stride_mask = 0;

    // True if an object at this address has a handle. `address` may have any bit pattern.
    [[gnu::always_inline]] bool holds(const void *address) const {
        size_t offset = offset_of(address);
        if (offset >= made_bytes->load(std::memory_order_acquire)) [[unlikely]] return holds_further(address);
        return is_object(address, offset);
    }
    // The index of an object that was created in this pool.
    [[gnu::always_inline]] size_t index(const void *object) const {
        size_t offset = offset_of(object);
        if (offset >= made_bytes->load(std::memory_order_relaxed)) [[unlikely]] return further_index(object);
        return offset >> std::countr_one(stride_mask);
    }
    // The object with this index (below 2^32) if the program has a handle for it, otherwise nullptr.
    [[gnu::always_inline]] void *at(size_t index) const {
        size_t offset = index * (stride_mask + 1);
        if (offset >= made_bytes->load(std::memory_order_acquire)) [[unlikely]] return further_at(index);
        const void *address = base + offset;
        return is_object(address, offset) ? const_cast<void *>(address) : nullptr;
    }

private:
    size_t offset_of(const void *address) const {
        return reinterpret_cast<size_t>(address) - reinterpret_cast<size_t>(base);
    }
    bool is_object(const void *address, size_t offset) const {
        return (offset & stride_mask) == 0 &&
               static_cast<const Object *>(address)->handles.load(std::memory_order_relaxed) > 0;
    }
    [[gnu::noinline]] bool holds_further(const void *address) const {
        const PoolRange *range = ranges ? ranges->with_address(address) : nullptr;
        return range &&
               is_object(address, reinterpret_cast<size_t>(address) - reinterpret_cast<size_t>(range->base));
    }
    [[gnu::noinline]] size_t further_index(const void *object) const {
        const PoolRange *range = ranges->with_address(object);
        size_t offset = reinterpret_cast<size_t>(object) - reinterpret_cast<size_t>(range->base);
        return range->first + (offset >> std::countr_one(stride_mask));
    }
    [[gnu::noinline]] void *further_at(size_t index) const {
        const PoolRange *range = ranges ? ranges->with_index(index) : nullptr;
        if (!range) return nullptr;
        size_t offset = (index - range->first) * (stride_mask + 1);
        void *address = range->base + offset;
        return is_object(address, offset) ? address : nullptr;
    }
};

template <class T>
class ObjectPool {
public:
    static constexpr size_t stride = std::bit_ceil(std::max<size_t>(sizeof(T), 64));

    // The usual number of freed slots that are not used again while other slots are available. If a pool's
    // `rest` is 0, the slot freed last is taken first, because it is in the cache.
    static constexpr size_t usual_rest = 64;

    explicit ObjectPool(size_t capacity = size_t{1} << 20, size_t rest = usual_rest)
        : ranges_(stride, capacity), rest_(rest) {
        static_assert(std::is_base_of_v<Object, T>);
    }
    ~ObjectPool() {
        each([](T &object) { object.~T(); });
    }
    ObjectPool(const ObjectPool &) = delete;
    ObjectPool &operator=(const ObjectPool &) = delete;

    // Creates an object. Returns nullptr if memory or the pool's capacity is exhausted.
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

    PoolView view() const { return {&ranges_, ranges_.at(0).base, &ranges_.at(0).made_bytes, stride - 1}; }
    bool holds(const void *address) const { return view().holds(address); }
    size_t index(const T *object) const { return view().index(object); }
    // The live object with this index, or nullptr.
    T *at(size_t index) const {
        const PoolRange *range = ranges_.with_index(index);
        return range ? alive(*range, index - range->first) : nullptr;
    }
    // Visits every live object, for reports of leaked handles.
    template <class Visit>
    void each(Visit visit) const {
        for (uint32_t number = 0; number < ranges_.count(); ++number) {
            const PoolRange &range = ranges_.at(number);
            for (size_t place = 0; place < made(range); ++place)
                if (T *object = alive(range, place)) visit(*object);
        }
    }

private:
    struct Dead : Object {
        Dead() : Object{0, 0} {}  // so a concurrent reader never sees the counts of a live object
        std::byte *next = nullptr;
    };

    static size_t made(const PoolRange &range) {
        return range.made_bytes.load(std::memory_order_acquire) / stride;
    }
    static T *alive(const PoolRange &range, size_t place) {
        auto *object = reinterpret_cast<Object *>(range.base + place * stride);
        return object->references.load(std::memory_order_relaxed) > 0 ? static_cast<T *>(object) : nullptr;
    }
    std::byte *take_slot() {
        SpinGuard guard(lock_);
        if (free_count_ > rest_) return take_free();
        size_t bytes = filling_->made_bytes.load(std::memory_order_relaxed);
        if (bytes == filling_->usable * stride) [[unlikely]] {
            if (!ranges_.open_more()) return free_ ? take_free() : nullptr;
            filling_ = &ranges_.newest();
            bytes = filling_->made_bytes.load(std::memory_order_relaxed);
        }
        std::byte *slot = filling_->base + bytes;
        new (slot) Dead;
        filling_->made_bytes.store(bytes + stride, std::memory_order_release);
        return slot;
    }
    std::byte *take_free() {
        std::byte *slot = free_;
        free_ = reinterpret_cast<Dead *>(slot)->next;
        --free_count_;
        return slot;
    }

    PoolRanges ranges_;
    PoolRange *filling_ = &ranges_.at(0);
    std::byte *free_ = nullptr, *last_free_ = nullptr;
    size_t free_count_ = 0;
    size_t rest_;
    SpinLock lock_;
};

}  // namespace lanyard
