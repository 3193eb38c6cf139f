// A receiver asks the sender of a long message within a node to push its bytes through shared buffers, though it does
// not know whether the sender is inside MPI. (One that waits in its call says so with its offer: flag_attended.)
//
//   sender                      receiver
//     rendezvous  ------------>   match; begin a generation of a word
//                 <------------   clear to send, if the word is still to be had
//   claim the word; push
//     bulk, bulk  ------------>   complete
//
// The side that claims the word has the message. A receiver that has waited in vain for a moment claims it itself and
// copies directly, so it waits for nobody; a sender that comes later finds the word taken and does nothing.
// Thread rule: the owner of the engine.
#pragma once

#include "engine/engine.h"
#include "p2p/endpoint.h"
#include "p2p/shared_words.h"

namespace lanyard {

// The answer to an offer. Its tag is 1 where the receiver's buffer is contiguous: what comes is written to its place.
struct ClearToSend {
    uint64_t receiver_id;
    uint64_t offset, end;  // the bytes wanted
};

class PushRequest : private Task {
public:
    class User {
    public:
        // Nobody pushes, nor will: the receiver has the message.
        virtual void sender_is_absent() = 0;

    protected:
        ~User() = default;
    };

    explicit PushRequest(Endpoint &endpoint) : endpoint_(endpoint) { run = await; }
    ~PushRequest() { stop(); }
    // Is there hope that it helps?
    static bool promises_something(Endpoint &endpoint, Peer &peer);
    // False: there is no word, and nothing has happened.
    bool begin(uint32_t peer, uint64_t sender_id, const ClearToSend &clear, bool contiguous, User &user);
    // The bytes are here, so the sender had it.
    void answered();
    // Nobody is to push.
    void stop();
    // At the sender: is the message still to be pushed? True: it has the message.
    static bool claim(const Endpoint &endpoint, uint32_t peer, const Envelope &request);

private:
    static int await(Task &task);

    Endpoint &endpoint_;
    User *user_ = nullptr;
    OwnWord word_;
    uint32_t peer_ = no_peer;
    uint64_t until_ns_ = 0;
};

}  // namespace lanyard
