// With a PushRequest, the receiver of a long message within a node requests that the sender pushes the bytes:
// the sender is to copy them into shared buffers. A sender answers only while it is inside MPI, and the
// receiver cannot know whether it is. (A sender that waits in its call states this in its offer by
// flag_attended, and needs no such request.)
//
// Both sides agree by a shared word (shared_words.h) on which of them moves the message: the side that claims
// the word. For each request, the receiver begins a new generation of the word, in which it is unclaimed.
//
//   sender                      receiver
//     rendezvous  ------------>   match; begin a generation of a word
//                 <------------   clear to send, valid while the word is unclaimed
//   claim the word; push
//     bulk, bulk  ------------>   complete
//
// A receiver that has waited for a moment in vain claims the word itself and reads the message from the
// sender's memory, so it depends on no other process. A receiver that sleeps wakes at the end of this moment
// (Task::due_ns). A sender that answers later finds the word taken and does nothing.
// Thread rule: the owner of the engine.
// Tested by: tests/unit/p2p/rendezvous_receive_test.cc, tests/unit/p2p/rendezvous_send_test.cc.
#pragma once

#include "engine/engine.h"
#include "p2p/endpoint.h"
#include "p2p/shared_words.h"

namespace lanyard {

// The payload of a clear-to-send. The envelope's tag is 1 if the receiver's buffer is contiguous, so that the
// path can write bytes straight into the buffer.
struct ClearToSend {
    uint64_t receiver_id;
    uint64_t offset, end;  // the requested bytes
};

class PushRequest : private Task {
public:
    class User {
    public:
        // Called from inside a turn of the engine, at most once for each begin(), when the request has ended
        // because the sender did not answer. The sender will never push this message, so the receiver must
        // move it.
        virtual void sender_is_absent() = 0;

    protected:
        ~User() = default;
    };

    explicit PushRequest(Endpoint &endpoint) : endpoint_(endpoint) { run = await; }
    ~PushRequest() { stop(); }
    // Is a request to this peer likely to be answered in time?
    static bool promises_something(Endpoint &endpoint, Peer &peer);
    // Sends the request, with `clear` as its payload. False: there is no free word, and nothing has happened.
    // `user` must live until answered() or stop() is called, or sender_is_absent() runs. One request at a
    // time.
    bool begin(uint32_t peer, uint64_t sender_id, const ClearToSend &clear, bool contiguous, User &user);
    // Ends the request because the sender has claimed the message. No effect if no request is open.
    void answered();
    // Ends the request. From now on the sender cannot claim the message. No effect if no request is open.
    void stop();
    // Called at the sender with the request's envelope: claims the message. False: the sender must not push
    // the message, because the receiver has claimed it or has ended the request.
    static bool claim(const Endpoint &endpoint, uint32_t peer, const Envelope &request);

private:
    static int await(Task &task);

    Endpoint &endpoint_;
    User *user_ = nullptr;
    OwnWord word_;
    uint32_t peer_ = no_peer;
};

}  // namespace lanyard
