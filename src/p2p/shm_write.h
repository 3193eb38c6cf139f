// The sender's half of the write protocol within a node (shm_advert.h): claims a receive, writes a long
// message into its buffer, and then sends the envelope that reports this.
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
        // All bytes are in the receive buffer, and the envelope that reports this has been sent.
        virtual void written() = 0;
        // The kernel refused to write, and the envelope that reports this has been sent. The peer will
        // request the bytes as if they had been offered.
        virtual void write_refused() = 0;

    protected:
        ~User() = default;
    };

    explicit ShmWrite(Endpoint &endpoint) : endpoint_(endpoint) {
        Task::run = write;
        Outgoing::flush = tell;
    }
    ~ShmWrite() { stop(); }
    // Claims the receive for a message. False: the receiver has withdrawn or held the receive, or does so
    // within the next moment because it begins to wait.
    static bool claim(Endpoint &endpoint, const AnnouncedReceive &receive);
    // Starts to write the message into the claimed receive. `sender_id`: the id of the send, by which the
    // receiver requests the bytes if the kernel refuses.
    void begin(const SendOperation &send, const AnnouncedReceive &receive, uint64_t sender_id, User &user);
    // Writes no more, and notifies neither the receiver nor `user`.
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
