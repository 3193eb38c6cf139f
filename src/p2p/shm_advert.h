// The write protocol within a node (receive_advert.h has the other half, over networks): a posted receive lets the
// sender of a long message write it straight into place, though the receiver computes. So a blocking send is over
// without waiting for it.
//
//   receiver                                     sender
//     posts the receive; opens a word
//     announcement (id, address, room, word) --->   (keeps it)
//                                                   claims the word; writes
//                                 <---  rendezvous, flag_claimed, names the id
//     complete
//
// The word (shared_words.h) goes from `open` by a compare-and-swap either to `claimed`, by the sender, or to its next
// generation, by the receiver, which so withdraws it: when another message meets the receive, when the program cancels
// it, and when it waits, as both had better copy then (dual_copy.h). While it waits for something else in a call, a
// send, it holds its words: they are not to be claimed until it goes on. The loser of the swap obeys: a sender offers
// its message as ever; a claimed receive is not matched nor cancelled any more, but completes when its message says that
// it is written. Where writing is refused the message says so, and is asked for in bulk by that receive.
//
// Why the message that is written is the one that matching would have given this receive
// - Receives of one named source are announced, and only where no receive that was posted before could take a message
//   which this one takes and is not open itself. So the sender, which keeps announcements in the order of posting, knows
//   each receive that comes before one it knows, and takes the first that its message fits: never the next where that
//   one may not be claimed (any more), or has not room enough.
// - None of its own messages is on its way to that receive. One that it had sent before the receive was posted, and that
//   had not come, could be the one the receive was posted for: the receiver says how many had come, and where that is not
//   how many were sent the announcement is kept but not to be claimed. Each message offered after that uses up the first
//   announcement that it fits; and as that receive may be over without the sender knowing (cancelled, or met by what was
//   on its way), none of the later ones that it fits may be claimed either.
// - All is known again when a receive is announced of which the receiver says that no other is open, and nothing is on
//   its way: then it is the first posted one for whatever it takes.
// - Messages of other senders do not fit a receive of this source. Those of this sender that come while the receive is
//   claimed were sent after the claim, and belong to later receives.
// - A claim is for one message: each opening has a generation of its own.
//
// Nothing waits for ever: a claimed receive completes when the sender, which is inside its call, has written and sent
// the envelope.
// Thread rule: the owner of the engine.
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
    // `posted`: all posted receives.
    ShmAdverts(Endpoint &endpoint, MatchQueue &posted) : endpoint_(endpoint), posted_(posted) {}
    ShmAdverts(const ShmAdverts &) = delete;
    ShmAdverts &operator=(const ShmAdverts &) = delete;

    // A long receive from a named source has been posted: opens it, if that is of use.
    void announce(ReceiveOperation &receive);
    // Something else is to happen to the receive. False: it is claimed, and nothing else may.
    bool withdraw(ReceiveOperation &receive);
    // Whatever its state: what was claimed is written, or never will be.
    void end(ReceiveOperation &receive);
    // The receive of that id, whose sender says that it is written, or could not be. nullptr: there is no such receive.
    ReceiveOperation *claimed(uint32_t peer, uint64_t id);

    // The program waits from now on, so what comes had better be copied by both sides.
    void withdraw_all() {
        if (open_) withdraw_open();
    }
    // While there are holders the program waits in a call for something else.
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
    Claimable all_[shared_words];  // by index of the word
    uint64_t used_ = 0;            // of these, by bit
    uint64_t open_ = 0;            // of these: not claimed, as far as this side knows
    int holders_ = 0;
    bool held_ = false;
};

// At the sender. False: it came too late to be claimed.
bool hear_claimable(Announcements &known, Path &path, uint32_t peer, const Envelope &envelope, const std::byte *payload);

}  // namespace lanyard
