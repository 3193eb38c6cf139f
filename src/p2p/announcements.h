// The receives that one peer has announced to this process (the write protocol, receive_advert.h), in the
// order in which they were posted. Each message to the peer removes the first announcement that it fits. The
// channel reports sent messages to this class while any announcement is stored. Used by the messenger.
// Thread rule: the owner of the engine.
// Tested by: tests/unit/p2p/rendezvous_send_test.cc, tests/unit/p2p/shm_write_test.cc.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "p2p/channel.h"
#include "p2p/match.h"

namespace lanyard {

struct AnnouncedReceive {
    // The receive takes messages with this key: its context, this process's rank in it, and its tag or
    // any_tag.
    MatchKey wanted;
    uint64_t receive_id;
    uint64_t room;  // bytes
    bool in_place;  // the receive buffer is contiguous
    // Used only within a node (shm_advert.h). The process that changes `*word` from `open` to `claimed` may
    // write to `address`. If `word` is nullptr, the receive cannot be claimed.
    uint64_t address = 0;
    std::atomic<uint64_t> *word = nullptr;
    uint64_t open = 0, claimed = 0;
};

class Announcements final : public SentListener {
public:
    explicit Announcements(Channel &channel) : channel_(channel) {}
    Announcements(const Announcements &) = delete;
    Announcements &operator=(const Announcements &) = delete;

    // Removes the first announcement that the sent message fits. The receive of that announcement may already
    // have ended: the program cancelled it, or it met a message that was on its way when it was announced.
    // The sent message may then meet any later receive that it fits. So none of those later receives may be
    // claimed any more.
    void message_sent(const MatchKey &key) override {
        const AnnouncedReceive *one = find(key);
        if (!one) return;
        known_.erase(known_.begin() + (one - known_.data()));
        for (AnnouncedReceive &later : known_)
            if (fits(later.wanted, key)) later.word = nullptr;
        listen();
    }
    // `received`: how many messages of this process the peer had received when it posted the receive. False:
    // the announcement is not kept, because the list is full, or because further messages were on their way
    // and the receive may have been posted for any of them.
    bool add(const AnnouncedReceive &announcement, uint64_t received) {
        if (received != channel_.sent || known_.size() >= most) return false;
        known_.push_back(announcement);
        listen();
        return true;
    }
    // Like add(), but within a node. Here an announcement that arrived too late is kept too, because no later
    // receive may be claimed before the announced one. If the list has no room for an announcement, nothing
    // may be claimed until an announcement with `sole` arrives that is not too late. `sole`: no other receive
    // announced to this process is open, so the list is complete again. False: the receive cannot be claimed.
    bool add_claimable(AnnouncedReceive announcement, uint64_t received, bool sole) {
        bool usable = received == channel_.sent;
        if (!usable) announcement.word = nullptr;
        if (usable && sole) {
            known_.clear();
            incomplete_ = false;
        }
        if (known_.size() < most) known_.push_back(announcement);
        else incomplete_ = true;
        listen();
        return usable && !incomplete_;
    }
    bool complete() const { return !incomplete_; }
    // Counts a message that has claimed the first receive that it fits, and removes that receive's
    // announcement.
    void message_claimed(const MatchKey &key) {
        ++channel_.sent;
        if (const AnnouncedReceive *one = find(key)) known_.erase(known_.begin() + (one - known_.data()));
        listen();
    }
    // The first announced receive that takes the message with this key (without wildcards), else nullptr. The
    // announcement is kept until the message is sent.
    const AnnouncedReceive *find(const MatchKey &key) const {
        for (const AnnouncedReceive &one : known_)
            if (fits(one.wanted, key)) return &one;
        return nullptr;
    }
    void clear() {
        known_.clear();
        listen();
    }
    size_t count() const { return known_.size(); }

private:
    static constexpr size_t most = 256;  // messages neither name nor claim receives beyond these

    void listen() { channel_.listener = known_.empty() ? nullptr : this; }

    Channel &channel_;
    bool incomplete_ = false;
    std::vector<AnnouncedReceive> known_;
};

}  // namespace lanyard
