// See links.h.
#include "path/tcp/links.h"

namespace lanyard {

Link &Links::make(uint32_t peer) {
    table_[peer] = std::make_unique<Link>(peer, spare_, form.check_bytes());
    return *table_[peer];
}

void Links::count(Link &link, Counted now) {
    busy_ += now.busy - link.counted.busy;
    unacknowledged_ += now.unacknowledged - link.counted.unacknowledged;
    slow_ += now.slow - link.counted.slow;
    link.counted = now;
}

void Links::list_due(Link &link) {
    link.due = true;
    due_.push_back(&link);
}

std::vector<Link *> Links::take_due() {
    due_at_ns_ = no_deadline;
    std::vector<Link *> due;
    due.swap(due_);
    for (Link *link : due) link->due = false;
    return due;
}

}  // namespace lanyard
