// The write protocol within a node (receive_advert.h has the other half, over networks). A posted receive
// lets the sender of a long message write it straight into place while the receiver computes. A blocking send
// thus completes without waiting for the receiver.
//
//   receiver                                     sender
//     posts the receive; opens a word
//     announcement (id, address, room, word) --->   (keeps it)
//                                                   claims the word; writes
//                                 <---  rendezvous, flag_claimed, names the id
//     complete
//
// A compare-and-swap changes the word (shared_words.h) from `open` either to `claimed`, by the sender, or to
// its next generation, by the receiver. The receiver thus withdraws it: when another message meets the
// receive, when the program cancels it, and when the program begins to wait for it, because both sides should
// then copy (dual_copy.h). While the program waits in a call for something else, a send, the receiver holds
// its words: they cannot be claimed until it continues. The side that loses the swap gives way. A sender then
// offers its message as usual. A claimed receive can no longer be matched or cancelled. It completes when its
// message reports that it is written. If writing is refused, the message says so, and the receive requests it
// in bulk.
//
// Why the written message is the one that matching would have given this receive
// - Only receives with a named source are announced, and only if every earlier receive that could take the
//   same message is open itself. The sender keeps announcements in the order of posting. So for each receive
//   that it knows, it also knows all that precede it. It takes the first that its message fits. It never
//   takes the next one if the first cannot be claimed (any more) or has too little room.
// - None of the sender's own messages is on its way to that receive. A message that it sent before the
//   receive was posted, and that had not arrived, could be the one for which the receive was posted. The
//   receiver therefore states how many had arrived. If that is not how many were sent, the announcement is
//   kept but cannot be claimed. Each message offered after that uses up the first announcement that it fits.
//   That receive may have ended without the sender knowing (cancelled, or met by a message on its way), so
//   none of the later ones that the message fits may be claimed either.
// - All is known again when the receiver announces a receive, states that no other is open, and nothing is on
//   its way. This receive is then the first posted one for whatever it takes.
// - Messages of other senders do not fit a receive with this source. Messages of this sender that arrive
//   while the receive is claimed were sent after the claim and belong to later receives.
// - A claim is for one message, because each opening has a generation of its own.
//
// Nothing waits for ever: a claimed receive completes when the sender, which is inside its call, has written
// the bytes and sent the envelope.
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

    // A long receive from a named source has been posted. Opens it if this is worth it.
    void announce(ReceiveOperation &receive);
    // Withdraws a receive for which something else is to happen. False: it is claimed, and nothing else may
    // happen to it.
    bool withdraw(ReceiveOperation &receive);
    // Ends the opening in any state. Requires that a claimed receive is written, or never will be.
    void end(ReceiveOperation &receive);
    // The receive with this id, whose sender reports that it is written or could not be. nullptr: there is no
    // such receive.
    ReceiveOperation *claimed(uint32_t peer, uint64_t id);

    // The program waits from now on, so both sides should copy what arrives.
    void withdraw_all() {
        if (open_) withdraw_open();
    }
    // While there are holders, the program waits in a call for something else.
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
    uint64_t used_ = 0;            // which of these are in use, by bit
    uint64_t open_ = 0;            // which of these are not claimed, as far as this side knows
    int holders_ = 0;
    bool held_ = false;
};

// At the sender. False: the announcement arrived too late to be claimed.
bool hear_claimable(Announcements &known, Path &path, uint32_t peer, const Envelope &envelope,
                    const std::byte *payload);

}  // namespace lanyard
