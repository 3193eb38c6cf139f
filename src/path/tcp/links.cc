#include "path/tcp/links.h"

namespace lanyard {

void Links::recount(Link &link) {
    bool busy = link.log.unwritten() > 0 || link.connection.is_busy(), unsettled = !link.log.empty(), slow = link.connection.comes_slowly();
    busy_ += busy - link.busy;
    unsettled_ += unsettled - link.unsettled;
    coming_slowly_ += slow - link.slow;
    link.busy = busy;
    link.unsettled = unsettled;
    link.slow = slow;
    SilenceCheck &silence = link.connection.silence;
    if (silence.begin(unsettled, link.connection.bulk_bytes(), now_ns)) set_due(link, silence.due_ns());
}

std::vector<Link *> Links::take_due() {
    due_at_ns_ = no_deadline;
    std::vector<Link *> due;
    due.swap(due_);
    for (Link *link : due) link->due = false;
    return due;
}

}  // namespace lanyard
