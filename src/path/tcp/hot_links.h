// Decides which links are hot. A hot link is read without querying the kernel first, because much has arrived
// on it recently while this process did not sleep. The socket of a hot link is not watched, since data that
// arrives at a watched socket costs more time. (It is watched again if it must wait for room to write.)
// Thread rule: the owner of the engine.
// Tested by: tests/unit/path/tcp/links_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lanyard {

class Sockets;
struct Link;

// What is stored for each link.
struct Heat {
    bool hot = false;
    uint32_t arrivals = 0;  // arrivals without a sleep between them
    uint32_t sleeps = 0;    // how often this process had slept at the last arrival
};

class HotLinks {
public:
    // A link is hot for `hot_ns` after something arrived.
    HotLinks(Sockets &sockets, uint64_t hot_ns) : sockets_(sockets), hot_ns_(hot_ns) {}

    bool empty() const { return hot_.empty(); }
    // From now on, no further link becomes hot.
    void disable() { most_ = 0; }
    // Called when something arrived on a watched link. The link may become hot.
    void note_arrival(Link &link);
    // Reads links that are still hot, by read(link, budget), until the budget is spent. Links that are no
    // longer hot are watched again. Returns the work done.
    template <class Read>
    int read(int budget, uint64_t now_ns, Read read) {
        int work = 0;
        for (size_t i = 0; i < hot_.size() && work < budget;) {
            if (is_hot(*hot_[i], now_ns)) work += read(*hot_[i++], budget - work);
            else cool(i);
        }
        return work;
    }
    // Called before a time without polls: all links are watched again.
    void prepare_to_sleep(bool process_sleeps);

private:
    bool is_hot(const Link &link, uint64_t now_ns) const;
    void cool(size_t index);
    void watch(Link &link);

    Sockets &sockets_;
    const uint64_t hot_ns_;
    std::vector<Link *> hot_;
    size_t most_ = 4;
    uint32_t sleeps_ = 0;  // how often this process has slept
};

}  // namespace lanyard
