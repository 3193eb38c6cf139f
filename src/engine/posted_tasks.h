// PostedTasks holds the tasks that any thread posts, until the owner of the engine takes them over.
// Thread rule: any thread; hand_over() by the owner of the engine.
// Tested by: tests/unit/engine/engine_test.cc, tests/unit/engine/progress_test.cc.
#pragma once

#include <atomic>

#include "base/list.h"
#include "base/spin_lock.h"
#include "engine/task.h"

namespace lanyard {

class PostedTasks {
public:
    bool any() const { return any_.load(std::memory_order_relaxed); }
    // `task` must not be in a list, and must live until it has run. Wakes no thread.
    // The flag is set after the task is linked. A sleeper announces its sleep and then reads the flag; a
    // poster sets the flag and then looks for a sleeper. So the sleeper sees the task, or the poster sees the
    // sleeper.
    void post(Task &task) {
        SpinGuard guard(lock_);
        tasks_.push_back(task);
        any_.store(true, std::memory_order_seq_cst);
    }
    // Moves all posted tasks to the end of `tasks`.
    void hand_over(Tasks &tasks) {
        SpinGuard guard(lock_);
        any_.store(false, std::memory_order_relaxed);
        tasks.take_all(tasks_);
    }

private:
    std::atomic<bool> any_{false};
    SpinLock lock_;
    Tasks tasks_;
};

}  // namespace lanyard
