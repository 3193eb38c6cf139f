// Growing is an array that grows without moving its elements. Addresses for many elements are reserved at the
// start, and memory is taken as elements are appended. So references stay valid, and access costs the same as
// in an array. Elements are never removed.
// Thread rule: one thread calls append() and make_room(). Any thread may read elements below size(), if the
// fields of T can be read by any thread.
// Tested by: tests/unit/base/processes_test.cc.
#pragma once

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <new>
#include <utility>

#include "base/error.h"
#include "base/leak_roots.h"

namespace lanyard {

// Reserves a range of addresses without memory behind them. Returns nullptr if no such range is available.
inline std::byte *reserve_addresses(size_t bytes) {
    void *start = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return start == MAP_FAILED ? nullptr : static_cast<std::byte *>(start);
}
// True if the address space is limited (ulimit -v).
inline bool addresses_are_scarce() {
    rlimit limit{};
    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

template <class T>
class Growing {
public:
    static constexpr size_t most = size_t{1} << 20, few_more = 1024;

    // `soon` is the number of elements that are appended at the start. If addresses are scarce, there is room
    // only for these elements and `few_more` further ones. If the system refuses even this range, there is
    // room for none.
    explicit Growing(size_t soon = 0) {
        size_t least = soon + few_more, wanted = addresses_are_scarce() ? least : std::max(least, most);
        for (; !begin_ && wanted >= least; wanted = wanted == least ? 0 : std::max(least, wanted / 2)) {
            begin_ = reinterpret_cast<T *>(reserve_addresses(bytes_of(wanted)));
            if (begin_) capacity_ = wanted;
        }
    }
    ~Growing() {
        for (size_t i = size(); i-- > 0;) begin_[i].~T();
        if (backed_) unregister_leak_root(begin_, backed_);
        if (begin_) munmap(begin_, bytes_of(capacity_));
    }
    Growing(const Growing &) = delete;
    Growing &operator=(const Growing &) = delete;

    // Ensures that the next append() succeeds. False if addresses or memory are used up.
    bool make_room() {
        size_t count = size_.load(std::memory_order_relaxed);
        return count < capacity_ && back(count + 1);
    }
    // Returns nullptr if addresses or memory are used up.
    template <class... Arguments>
    T *append(Arguments &&...arguments) {
        if (!make_room()) return nullptr;
        size_t count = size_.load(std::memory_order_relaxed);
        T *made = new (begin_ + count) T(std::forward<Arguments>(arguments)...);
        size_.store(count + 1, std::memory_order_release);
        return made;
    }

    T &operator[](size_t index) { return begin_[index]; }
    const T &operator[](size_t index) const { return begin_[index]; }
    size_t size() const { return size_.load(std::memory_order_acquire); }
    T *begin() { return begin_; }
    T *end() { return begin_ + size(); }
    const T *begin() const { return begin_; }
    const T *end() const { return begin_ + size(); }

private:
    static constexpr size_t page_bytes = 4096, step_bytes = 16 * page_bytes;
    static constexpr size_t bytes_of(size_t count) {
        return (count * sizeof(T) + page_bytes - 1) / page_bytes * page_bytes;
    }

    // Ensures memory for `count` elements.
    bool back(size_t count) {
        if (count * sizeof(T) <= backed_) return true;
        size_t wanted = std::min(std::max(bytes_of(count), backed_ + step_bytes), bytes_of(capacity_));
        if (mprotect(begin_, wanted, PROT_READ | PROT_WRITE) != 0) return false;
        if (backed_) unregister_leak_root(begin_, backed_);
        register_leak_root(begin_, wanted);
        backed_ = wanted;
        return true;
    }

    T *begin_ = nullptr;
    std::atomic<size_t> size_{0};
    size_t capacity_ = 0, backed_ = 0;
};

}  // namespace lanyard
