// The sender's half of the write within a node (shm_advert.h): writes a long message into the receive that it has
// claimed, and says so in its turn.
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
        // All bytes are in place, and the peer is told.
        virtual void written() = 0;
        // The kernel refused; the peer is told, and asks for the bytes as if they had been offered.
        virtual void write_refused() = 0;

    protected:
        ~User() = default;
    };

    explicit ShmWrite(Endpoint &endpoint) : endpoint_(endpoint) {
        Task::run = write;
        Outgoing::flush = tell;
    }
    ~ShmWrite() { stop(); }
    // May the receive be claimed by this message, as far as the sender can see? Claims it then.
    static bool claim(Endpoint &endpoint, const AnnouncedReceive &receive);
    // To the receive that it has claimed. `sender_id` names the send, should the kernel refuse.
    void begin(const SendOperation &send, const AnnouncedReceive &receive, uint64_t sender_id, User &user);
    // Writes no more, and tells nobody.
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
