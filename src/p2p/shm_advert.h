// Implements the write protocol within a node (receive_advert.h: over networks). A posted receive is
// announced, and the sender of a long message may write it straight into the receive buffer while the
// receiver computes. A blocking send thus completes without waiting for the receiver.
//
//   receiver                                     sender
//     posts the receive; opens a word
//     announcement (id, address, room, word) --->   (keeps it)
//                                                   claims the word; writes
//                                 <---  rendezvous, flag_claimed, names the id
//     complete
//
// Each announced receive has a word (shared_words.h), which is `open` at first. The sender claims the receive
// by changing the word to `claimed`. The receiver withdraws the receive by changing the word to its next
// generation. Both use a compare-and-swap, so only one of them succeeds. The receiver withdraws the receive
// when another message meets it and when the program cancels it. It also withdraws the receive when the
// program begins to wait, because both sides should copy then (dual_copy.h). While the program waits in a
// call for something else, such as a send, the receiver sets its open words to `held`: they cannot be claimed
// until the call has ended. (If ranks are oversubscribed, words stay open while the program waits, because a
// waiting rank leaves its processor to the sender.) A sender that cannot claim a receive offers its message
// as usual. A claimed receive can no longer be matched or cancelled. It completes when the sender's envelope
// reports that the message is written. If the kernel refuses to write, the envelope says so, and the receiver
// requests the message in bulk.
//
// Why the written message is the one that matching would have given this receive
// - A receive is announced only if it names its source, and if every earlier receive that could take the same
//   message is announced too. The sender keeps announcements in the order of posting. For each announced
//   receive, the sender thus also knows all earlier ones that could take its message. The sender may claim
//   only the first receive that its message fits. If that receive cannot be claimed (any more) or has too
//   little room, the sender claims none.
// - No earlier message of the sender is on its way to that receive. A message that was sent before the
//   receive was posted, but had not arrived then, could be the one for which the receive was posted. The
//   announcement therefore states how many messages of the sender had arrived. If the sender has sent more,
//   it keeps the announcement, but the receive cannot be claimed. Each later message that claims no receive
//   uses up the first announcement that it fits. The receive of that announcement may already have ended
//   (cancelled, or met by a message that was on its way). So none of the later receives that the message fits
//   may be claimed either.
// - If the sender's list of announcements is full, an announcement can be missing in it, and the sender
//   claims nothing. The list is complete again when the receiver announces a receive, states that no other
//   announced receive is open, and no message is on its way. This receive is then the first posted one for
//   every message that it takes.
// - Messages of other senders do not fit a receive with this source. Messages of this sender that arrive
//   while the receive is claimed were sent after the claim and belong to later receives.
// - A claim is for one message, because the word has another generation each time it is opened.
//
// Nothing waits for ever: a claimed receive completes when the sender, which is inside its call, has written
// the bytes and sent the envelope.
// Thread rule: the owner of the engine.
// Tested by: tests/unit/p2p/shm_write_test.cc, tests/sim/write_test.cc.
#pragma once

#include "p2p/announcements.h"
#include "p2p/endpoint.h"
#include "p2p/match.h"
#include "p2p/shared_words.h"

namespace lanyard {

// A receive that its sender may claim.
struct Claimable {
    OwnWord word;
    ReceiveOperation *receive = nullptr;
};

class ShmAdverts {
public:
    // `posted`: the queue of all posted receives.
    ShmAdverts(Endpoint &endpoint, MatchQueue &posted) : endpoint_(endpoint), posted_(posted) {}
    ShmAdverts(const ShmAdverts &) = delete;
    ShmAdverts &operator=(const ShmAdverts &) = delete;

    // If this is worthwhile, lets the sender claim a long receive that has just been posted, and announces
    // the receive. The receive must name its source.
    void announce(ReceiveOperation &receive);
    // Withdraws a receive that is to be matched or cancelled. False: a sender has claimed the receive, so it
    // can be neither matched nor cancelled.
    bool withdraw(ReceiveOperation &receive);
    // Frees the word of a receive, whatever its state. If the receive is claimed, the caller knows that the
    // sender has finished writing, or will never write.
    void end(ReceiveOperation &receive);
    // Called when the sender reports that it has written into a claimed receive, or could not write. Frees
    // the word and returns the receive with this id. nullptr: there is no such receive.
    ReceiveOperation *claimed(uint32_t peer, uint64_t id);

    // Withdraws all receives that are not claimed, because the program begins to wait, so that both sides
    // copy the messages that arrive. No effect if ranks are oversubscribed.
    void withdraw_all() {
        if (open_) withdraw_open();
    }
    // Between hold() and the matching hold_no_more(), the program waits in a call for something other than
    // these receives, and they cannot be claimed. No effect if ranks are oversubscribed, or if no receive is
    // open at the first hold().
    void hold();
    void hold_no_more();

private:
    bool worth_opening(const ReceiveOperation &receive) const;
    bool earlier_may_take(const ReceiveOperation &receive) const;
    bool is_sole(uint32_t peer) const;
    uint64_t open_state() const;
    void withdraw_open();
    void set_held(bool held);
    void free(Claimable &claimable);

    Endpoint &endpoint_;
    MatchQueue &posted_;
    Claimable all_[shared_words];  // by index of the receive's word
    uint64_t used_ = 0;            // bit i is set if all_[i] is in use
    uint64_t open_ = 0;            // bit i is set if all_[i] is not claimed, as far as this process knows
    int holders_ = 0;
    bool held_ = false;
};

// Called at the sender when an announcement arrives: stores it in `known`. False: the receive cannot be
// claimed, because the announcement arrived too late or `known` is incomplete.
bool hear_claimable(Announcements &known, Path &path, uint32_t peer, const Envelope &envelope,
                    const std::byte *payload);

}  // namespace lanyard
