// See hot_links.h.
#include "path/tcp/hot_links.h"

#include "path/tcp/link.h"

namespace lanyard {

namespace {
constexpr uint32_t arrivals_to_be_hot = 3;
}

void HotLinks::note_arrival(Link &link) {
    Heat &heat = link.heat;
    if (heat.sleeps != sleeps_) heat.arrivals = 0;
    heat.sleeps = sleeps_;
    if (++heat.arrivals < arrivals_to_be_hot || hot_.size() >= most_ || !link.connection.is_open()) return;
    heat.hot = true;
    hot_.push_back(&link);
    sockets_.unwatch(link.connection.socket());
}

bool HotLinks::is_hot(const Link &link, uint64_t now_ns) const {
    return link.connection.is_open() && now_ns < link.connection.last_received_ns() + hot_ns_;
}

void HotLinks::watch(Link &link) {
    link.heat.hot = false;
    if (link.connection.is_open()) link.connection.watch(sockets_);
}

void HotLinks::cool(size_t index) {
    watch(*hot_[index]);
    hot_.erase(hot_.begin() + static_cast<std::ptrdiff_t>(index));
}

void HotLinks::prepare_to_sleep(bool process_sleeps) {
    sleeps_ += process_sleeps;
    for (Link *link : hot_) {
        watch(*link);
        // The count begins anew. Otherwise, a program that moves in and out of MPI would add and remove the
        // socket with each message.
        link->heat.arrivals = 0;
    }
    hot_.clear();
}

}  // namespace lanyard
