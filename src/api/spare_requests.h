// Stores ended requests of one kind (send or receive). New requests reuse them, because creating a request
// takes longer than sending a short message. request.cc stores ended requests here, and transfers.h takes
// them. Any thread; the lock is skipped if the engine is single-threaded.
// Tested by: tests/mpi/pt2pt/overlapping.cc, tests/mpi/threads/messages.cc.
#pragma once

#include "api/request.h"
#include "base/spin_lock.h"
#include "engine/engine.h"

namespace lanyard {

class SpareRequests {
public:
    void keep(Request &request, const Engine &engine) {
        MaybeGuard guard(lock_, engine);
        request.state = first_;
        first_ = &request;
    }
    // Returns an ended request, ready for describe(), or nullptr if there is none. `comm` and the fields that
    // describe() sets still have their old values.
    Request *take(const Engine &engine) {
        MaybeGuard guard(lock_, engine);
        Request *request = first_;
        if (!request) return nullptr;
        first_ = static_cast<Request *>(request->state);
        renew(*request);
        return request;
    }

private:
    class MaybeGuard {
    public:
        MaybeGuard(SpinLock &lock, const Engine &engine) : lock_(engine.single_threaded() ? nullptr : &lock) {
            if (lock_) lock_->lock();
        }
        ~MaybeGuard() {
            if (lock_) lock_->unlock();
        }
        MaybeGuard(const MaybeGuard &) = delete;
        MaybeGuard &operator=(const MaybeGuard &) = delete;

    private:
        SpinLock *lock_;
    };

    // Resets the fields that describe() does not set for the next operation.
    static void renew(Request &request) {
        request.operation.check = 0;
        request.operation.cancelled = false;
        request.completion().reset();
        request.active = true;
        request.state = nullptr;
        request.handles.store(1, std::memory_order_relaxed);
        request.references.store(1, std::memory_order_relaxed);
    }

    Request *first_ = nullptr;
    SpinLock lock_;
};

extern constinit SpareRequests spare_sends, spare_receives;

}  // namespace lanyard
