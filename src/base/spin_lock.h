// A lock for sections of a few instructions. A waiting thread spins briefly and then yields its processor, so
// that the lock also works where threads outnumber processors.
#pragma once

#include <sched.h>

#include <atomic>

namespace lanyard {

inline void cpu_relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

class SpinLock {
public:
    void lock() {
        if (taken_.exchange(true, std::memory_order_acquire)) [[unlikely]] wait();
    }
    void unlock() { taken_.store(false, std::memory_order_release); }

private:
    [[gnu::noinline]] void wait() {
        int spins = 0;
        do {
            while (taken_.load(std::memory_order_relaxed)) {
                if (++spins % 64 == 0) sched_yield();
                else cpu_relax();
            }
        } while (taken_.exchange(true, std::memory_order_acquire));
    }

    std::atomic<bool> taken_{false};
};

class SpinGuard {
public:
    explicit SpinGuard(SpinLock &lock) : lock_(lock) { lock_.lock(); }
    ~SpinGuard() { lock_.unlock(); }
    SpinGuard(const SpinGuard &) = delete;
    SpinGuard &operator=(const SpinGuard &) = delete;

private:
    SpinLock &lock_;
};

}  // namespace lanyard
