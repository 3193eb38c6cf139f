// What a sender knows of one peer's posted receives (the write protocol, write.cc): announcements that no message of its own has
// overtaken, in the order in which the receives were posted. Pure; used by the messenger alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "p2p/match.h"

namespace lanyard {

struct AnnouncedReceive {
    MatchKey wanted;  // what the receive takes: its context, this side's rank there, its tag or any_tag
    uint64_t receive_id;
    uint64_t room;    // bytes
    bool in_place;    // into a contiguous buffer
};

class Announcements {
public:
    // A message was sent to the peer; the receive that it would meet, if it is known, has been used up.
    void message_sent(const MatchKey &key) {
        ++sent_;
        if (!known_.empty()) [[unlikely]] forget(key);
    }
    // The peer had got `come` messages from here when it posted the receive. False when others were on their way then, any of which it may
    // have been posted for: the announcement is not kept.
    bool add(const AnnouncedReceive &announcement, uint64_t come) {
        if (come != sent_ || known_.size() >= most) return false;
        known_.push_back(announcement);
        return true;
    }
    // The first receive that takes the message with this (exact) key, else nullptr. Stays until message_sent().
    const AnnouncedReceive *find(const MatchKey &key) const {
        for (const AnnouncedReceive &one : known_)
            if (fits(one.wanted, key)) return &one;
        return nullptr;
    }
    void clear() { known_.clear(); }
    size_t count() const { return known_.size(); }

private:
    static constexpr size_t most = 256;  // receivers with more of them posted are served by ordinary offers

    [[gnu::noinline]] void forget(const MatchKey &key) {
        if (const AnnouncedReceive *one = find(key)) known_.erase(known_.begin() + (one - known_.data()));
    }

    uint64_t sent_ = 0;
    std::vector<AnnouncedReceive> known_;
};

}  // namespace lanyard
