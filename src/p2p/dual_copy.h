// The rendezvous of a long contiguous message between processes that can touch each other's memory: both sides copy.
//
//   sender                      receiver
//     rendezvous  ------------>   match; begin a generation of a word; read pieces from the front
//                 <------------   help (receiver's id and address, word)
//   write pieces from the back
//     helped      ------------>   (only if at least one piece was written)
//                 <------------   finished
//
// Pieces are claimed from the word (shared_words.h), so each is moved exactly once, whoever has time. A sender that is
// not inside MPI does not answer; the receiver then reads everything itself and waits for nobody.
// Thread rule: the owner of the engine.
#pragma once

#include "datatype/datatype.h"
#include "engine/engine.h"
#include "p2p/endpoint.h"
#include "p2p/shared_words.h"

namespace lanyard {

// The receiver asks the sender to copy too.
struct HelpRequest {
    uint64_t receiver_id;
    uint64_t address;  // of the receive buffer
    uint32_t word;     // its index
    uint32_t generation;
};

// What a receiver does of it.
class PieceReader : private Task {
public:
    class User {
    public:
        // All bytes are here.
        virtual void pieces_copied() = 0;
        // The kernel refused, which is told in the log: the message must come another way.
        virtual void pieces_refused() = 0;

    protected:
        ~User() = default;
    };

    // Is it worth it, and possible?
    static bool suits(const Buffer &buffer, uint64_t bytes);

    explicit PieceReader(Endpoint &endpoint) : endpoint_(endpoint) { run = read; }
    ~PieceReader() { stop(); }
    // The first so many bytes of the peer's message, from that address of its memory; `receiver_id` and `sender_id` name
    // the two sides. False: there is no word left, and nothing has happened. It may be over before the return.
    bool begin(uint32_t peer, uint64_t sender_id, uint64_t receiver_id, uint64_t address, std::byte *to, uint64_t bytes, User &user);
    // The sender has written what it claimed, or (not `all_written`) could not and claims no more: then all is read here.
    void helped(bool all_written);
    // Reads no more, and the sender claims no more.
    void stop();

private:
    static int read(Task &task);
    bool read_piece(uint64_t piece);

    Endpoint &endpoint_;
    User *user_ = nullptr;
    OwnWord word_;
    uint32_t peer_ = no_peer;
    uint64_t address_ = 0, bytes_ = 0;
    std::byte *to_ = nullptr;
};

// What a sender does that is asked to help.
class PieceWriter : private Task {
public:
    explicit PieceWriter(Endpoint &endpoint) : endpoint_(endpoint) { run = write; }
    ~PieceWriter() { stop(); }
    // Nothing happens where that memory or word cannot be reached.
    void begin(uint32_t peer, const HelpRequest &request, const Buffer &buffer);
    // Writes no more: the buffer is not its own any more.
    void stop();
    bool busy() const { return word_ != nullptr; }

private:
    static int write(Task &task);
    void end(bool all_written);

    Endpoint &endpoint_;
    std::atomic<uint64_t> *word_ = nullptr;  // nullptr once it is over
    HelpRequest request_{};
    uint32_t peer_ = no_peer;
    Buffer buffer_;
    uint64_t written_ = 0;  // pieces
};

}  // namespace lanyard
