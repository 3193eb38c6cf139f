// A receiver requests that the sender of a long message within a node push its bytes through shared buffers,
// although it cannot know whether the sender is inside MPI. (A sender that waits in its call states this in
// its offer: flag_attended.)
//
//   sender                      receiver
//     rendezvous  ------------>   match; begin a generation of a word
//                 <------------   clear to send, if the word is still free
//   claim the word; push
//     bulk, bulk  ------------>   complete
//
// The side that claims the word moves the message. A receiver that has waited for a moment in vain claims it
// itself and copies directly, so it depends on no other process. A sender that arrives later finds the word
// taken and does nothing.
// Thread rule: the owner of the engine.
#pragma once

#include "engine/engine.h"
#include "p2p/endpoint.h"
#include "p2p/shared_words.h"

namespace lanyard {

// The answer to an offer. Its tag is 1 if the receiver's buffer is contiguous, so that bytes are written to
// their place.
struct ClearToSend {
    uint64_t receiver_id;
    uint64_t offset, end;  // the requested bytes
};

class PushRequest : private Task {
public:
    class User {
    public:
        // The sender does not push and never will; the receiver moves the message.
        virtual void sender_is_absent() = 0;

    protected:
        ~User() = default;
    };

    explicit PushRequest(Endpoint &endpoint) : endpoint_(endpoint) { run = await; }
    ~PushRequest() { stop(); }
    // Is a request likely to help?
    static bool promises_something(Endpoint &endpoint, Peer &peer);
    // False: there is no free word, and nothing has happened.
    bool begin(uint32_t peer, uint64_t sender_id, const ClearToSend &clear, bool contiguous, User &user);
    // The bytes are here, so the sender had claimed the message.
    void answered();
    // The sender must not push any more.
    void stop();
    // At the sender: claims the message. False: it is no longer to be pushed.
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
