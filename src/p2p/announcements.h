// What a sender knows of one peer's posted receives (the write protocol, receive_advert.h): announcements
// that none of its messages has overtaken, in the order in which the receives were posted. It is notified of
// sent messages while it knows any. Used by the messenger.
// Thread rule: the owner of the engine.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "p2p/channel.h"
#include "p2p/match.h"

namespace lanyard {

struct AnnouncedReceive {
    MatchKey wanted;  // what the receive takes: its context, this side's rank there, its tag or any_tag
    uint64_t receive_id;
    uint64_t room;  // bytes
    bool in_place;  // the buffer is contiguous
    // Within a node (shm_advert.h): the address that the process may write to which changes the word from
    // `open` to `claimed`. `word` is nullptr if no process may.
    uint64_t address = 0;
    std::atomic<uint64_t> *word = nullptr;
    uint64_t open = 0, claimed = 0;
};

class Announcements final : public SentListener {
public:
    explicit Announcements(Channel &channel) : channel_(channel) {}
    Announcements(const Announcements &) = delete;
    Announcements &operator=(const Announcements &) = delete;

    // A message uses up the known receive that it would meet. The first known receive that it fits may have
    // ended: cancelled, or met by a message that was on its way at the time. The message may then meet any of
    // the later ones, so none of these may be claimed.
    void message_sent(const MatchKey &key) override {
        const AnnouncedReceive *one = find(key);
        if (!one) return;
        known_.erase(known_.begin() + (one - known_.data()));
        for (AnnouncedReceive &later : known_)
            if (fits(later.wanted, key)) later.word = nullptr;
        listen();
    }
    // The peer had received `received` messages from here when it posted the receive. False: others were on
    // their way then, and the receive may have been posted for any of them, so the announcement is not kept.
    bool add(const AnnouncedReceive &announcement, uint64_t received) {
        if (received != channel_.sent || known_.size() >= most) return false;
        known_.push_back(announcement);
        listen();
        return true;
    }
    // The same within a node. The announcement is kept in any case, because later ones must not be claimed
    // before it. If there is no room for it, nothing may be claimed any more. `sole`: no other receive
    // announced to this process is open, so all is known again.
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
    // A message was written to the receive that it had claimed, the first that it fits.
    void message_claimed(const MatchKey &key) {
        ++channel_.sent;
        if (const AnnouncedReceive *one = find(key)) known_.erase(known_.begin() + (one - known_.data()));
        listen();
    }
    // The first receive that takes the message with this (exact) key, else nullptr. It stays until the
    // message is sent.
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
    static constexpr size_t most = 256;  // with more posted receives, ordinary offers serve

    void listen() { channel_.listener = known_.empty() ? nullptr : this; }

    Channel &channel_;
    bool incomplete_ = false;
    std::vector<AnnouncedReceive> known_;
};

}  // namespace lanyard
