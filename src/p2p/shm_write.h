// The sender's half of the write protocol within a node (shm_advert.h): it writes a long message into the
// receive that it has claimed, and then sends the envelope that reports this.
// Thread rule: the owner of the engine.
#pragma once

#include "engine/engine.h"
#include "p2p/announcements.h"
#include "p2p/channel.h"
#include "p2p/endpoint.h"

namespace lanyard {

class ShmWrite : private Task, private Outgoing {
public:
    class User {
    public:
        // All bytes are in place, and the peer has been notified.
        virtual void written() = 0;
        // The kernel refused. The peer has been notified and requests the bytes as if they had been offered.
        virtual void write_refused() = 0;

    protected:
        ~User() = default;
    };

    explicit ShmWrite(Endpoint &endpoint) : endpoint_(endpoint) {
        Task::run = write;
        Outgoing::flush = tell;
    }
    ~ShmWrite() { stop(); }
    // Claims the receive for a message, unless the receiver has withdrawn it or seems about to wait.
    static bool claim(Endpoint &endpoint, const AnnouncedReceive &receive);
    // Writes to the receive that was claimed. `sender_id` names the send, in case the kernel refuses.
    void begin(const SendOperation &send, const AnnouncedReceive &receive, uint64_t sender_id, User &user);
    // Writes no more, and notifies neither side.
    void stop();

private:
    static int write(Task &task);
    static bool tell(Outgoing &outgoing);

    Endpoint &endpoint_;
    User *user_ = nullptr;
    const SendOperation *send_ = nullptr;
    uint64_t sender_id_ = 0, receive_id_ = 0, address_ = 0;
    uint64_t written_ = 0, wanted_ = 0;
};

}  // namespace lanyard
