// Sends the bytes of a long message as bulk frames, whenever the path has room. The frames are addressed to a
// receive whose id the peer has named.
// Thread rule: the owner of the engine.
// Tested by: tests/unit/p2p/rendezvous_send_test.cc, tests/conformance/put_test.cc.
#pragma once

#include "datatype/cursor.h"
#include "engine/engine.h"
#include "p2p/endpoint.h"

namespace lanyard {

class BulkPush : private Task {
public:
    class User {
    public:
        // All bytes have left the buffer. (A path that loses bulk may still lose these bytes.)
        virtual void pushed() = 0;

    protected:
        ~User() = default;
    };

    explicit BulkPush(Endpoint &endpoint) : endpoint_(endpoint) { run = push; }
    ~BulkPush() { pause(); }
    // Starts to send the bytes `from` to `end` of the message. `token`: the path reports it when a frame has
    // left the buffer (Sink::sent). `in_place`: the receiver's buffer is contiguous. Replaces a push that is
    // still under way.
    void begin(uint32_t peer, uint64_t receiver_id, const Buffer &buffer, uint64_t from, uint64_t end,
               bool in_place, uint64_t token, User &user);
    // Sends nothing more until begin(). Frames may still be leaving the buffer.
    void pause() {
        if (hook.linked()) hook.unlink();
    }
    // Pauses, and no longer counts the frames that have not left the buffer.
    void forget() {
        pause();
        leaving_ = 0;
    }
    // Notes that a frame has left the buffer. `on`: the next frame may be sent.
    void sent(bool on) {
        --leaving_;
        if (on) endpoint_.engine.ready(*this);
    }
    // Are bytes still to be sent, or still in the buffer?
    bool is_under_way() const { return hook.linked() || leaving_ > 0; }
    // The number of frames that have not left the buffer.
    uint32_t leaving() const { return leaving_; }

private:
    static int push(Task &task);

    Endpoint &endpoint_;
    User *user_ = nullptr;
    uint32_t peer_ = no_peer;
    uint64_t receiver_id_ = 0, token_ = 0;
    uint64_t at_ = 0, end_ = 0;
    Cursor cursor_;
    bool in_place_ = false;  // both the sender's and the receiver's buffer are contiguous
    uint32_t leaving_ = 0;
};

}  // namespace lanyard
