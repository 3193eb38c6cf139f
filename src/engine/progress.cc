// See progress.h.
#include "engine/progress.h"

#include <algorithm>
#include <utility>

namespace lanyard {

void Progress::ring_alarm() {
    alarm_ns_ = no_deadline;
    ready(*std::exchange(alarm_, nullptr));
}

uint64_t Progress::deadline_ns() {
    uint64_t earliest = std::min(alarm_ns_, paths_.deadline_ns());
    for (Task *task = tasks_.front(); task; task = tasks_.after(*task))
        earliest = std::min(earliest, task->due_ns);
    return earliest;
}

int Progress::turn(int frames, bool system_calls) {
    if (now_ns_ >= alarm_ns_) [[unlikely]] ring_alarm();
    if (has_posted()) [[unlikely]] posted_.hand_over(tasks_);
    int work = paths_.poll(sink_, frames, now_ns_, system_calls);
    for (Poller *poller = pollers_.front(); poller;) {
        Poller *next = pollers_.after(*poller);
        work += poller->poll(*poller, now_ns_);
        poller = next;
    }
    // A task that makes itself ready again waits for the next turn, so that no task can keep the others out.
    Tasks due;
    due.take_all(tasks_);
    while (Task *task = due.pop_front()) work += task->run(*task);
    if (work == 0) work_left_ = false;  // tasks that are still ready wait for a peer, or until they are due
    return work;
}

}  // namespace lanyard
