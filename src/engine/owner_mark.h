// In builds for tests (LANYARD_OWNER_CHECKS: presets debug and tsan), an OwnerMark records which thread owns
// the engine. Functions that begin an operation, wait or make turns use it to check that their caller is the
// owner (Engine::check_owner()). In other builds the class is empty.
//
// Only the owner writes the record, after taking the engine and before giving it up. A caller that is not the
// owner therefore never reads its own mark, even while it races with the owner. An engine that was never
// taken passes every check, so that a test can drive it with one thread.
// Thread rule: set() and clear() by the owner; allows_caller() by any thread.
// Tested by: tests/unit/engine/owner_test.cc.
#pragma once

#include <pthread.h>

#include <atomic>

namespace lanyard {

#ifdef LANYARD_OWNER_CHECKS
class OwnerMark {
public:
    void set() { owner_.store(pthread_self(), std::memory_order_relaxed); }
    void clear() { owner_.store(nobody, std::memory_order_relaxed); }
    bool allows_caller() const {
        pthread_t owner = owner_.load(std::memory_order_relaxed);
        return owner == never_taken || pthread_equal(owner, pthread_self());
    }

private:
    // No thread has the value 0 or 1, because glibc's pthread_t is the address of an object.
    static constexpr pthread_t never_taken = 0, nobody = 1;
    std::atomic<pthread_t> owner_{never_taken};
};
#else
class OwnerMark {
public:
    void set() {}
    void clear() {}
    bool allows_caller() const { return true; }
};
#endif

}  // namespace lanyard
