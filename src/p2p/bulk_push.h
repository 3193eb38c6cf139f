// Pushes the bytes of a send to a receive that the peer has named, as fast as the path has room.
// Thread rule: the owner of the engine.
#pragma once

#include "datatype/cursor.h"
#include "engine/engine.h"
#include "p2p/endpoint.h"

namespace lanyard {

class BulkPush : private Task {
public:
    class User {
    public:
        // All bytes have left the buffer. (A path that loses bulk may still lose them.)
        virtual void pushed() = 0;

    protected:
        ~User() = default;
    };

    explicit BulkPush(Endpoint &endpoint) : endpoint_(endpoint) { run = push; }
    ~BulkPush() { pause(); }
    // Pushes the bytes `from` to `end` of the buffer's stream. `token`: what the path reports when some have
    // left (Sink::sent). `in_place`: the receiver's buffer is contiguous. If a push is under way, it is
    // replaced.
    void begin(uint32_t peer, uint64_t receiver_id, const Buffer &buffer, uint64_t from, uint64_t end,
               bool in_place, uint64_t token, User &user);
    // Sends nothing more until begin(). Frames may still be leaving the buffer.
    void pause() {
        if (hook.linked()) hook.unlink();
    }
    // It no longer matters which frames have left.
    void forget() {
        pause();
        leaving_ = 0;
    }
    // A frame has left the buffer. `on`: the next may follow.
    void sent(bool on) {
        --leaving_;
        if (on) endpoint_.engine.ready(*this);
    }
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
    bool in_place_ = false;  // from one contiguous buffer to another
    uint32_t leaving_ = 0;
};

}  // namespace lanyard
