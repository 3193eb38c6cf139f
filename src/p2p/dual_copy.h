// The rendezvous of a long contiguous message between processes that can access each other's memory: both
// sides copy.
//
//   sender                      receiver
//     rendezvous  ------------>   match; begin a generation of a word; read pieces from the front
//                 <------------   help (receiver's id and address, word)
//   write pieces from the back
//     helped      ------------>   (only if at least one piece was written)
//                 <------------   finished
//
// Both claim pieces from the word (shared_words.h), so each piece is moved exactly once. A sender that is not
// inside MPI does not answer. The receiver then reads everything itself and does not wait.
// Thread rule: the owner of the engine.
#pragma once

#include "datatype/datatype.h"
#include "engine/engine.h"
#include "p2p/endpoint.h"
#include "p2p/shared_words.h"

namespace lanyard {

// The receiver requests that the sender copies too.
struct HelpRequest {
    uint64_t receiver_id;
    uint64_t address;  // of the receive buffer
    uint32_t word;     // its index
    uint32_t generation;
};

// The receiver's side.
class PieceReader : private Task {
public:
    class User {
    public:
        // All bytes are here.
        virtual void pieces_copied() = 0;
        // The kernel refused, and a log message says so. The message must be moved in another way.
        virtual void pieces_refused() = 0;

    protected:
        ~User() = default;
    };

    // Is it possible and worth it?
    static bool suits(const Buffer &buffer, uint64_t bytes);

    explicit PieceReader(Endpoint &endpoint) : endpoint_(endpoint) { run = read; }
    ~PieceReader() { stop(); }
    // Begins with the first `bytes` of the peer's message, at that address of its memory. `receiver_id` and
    // `sender_id` name the two sides. False: there is no free word, and nothing has happened. It may end
    // before the return.
    bool begin(uint32_t peer, uint64_t sender_id, uint64_t receiver_id, uint64_t address, std::byte *to,
               uint64_t bytes, User &user);
    // The sender has written what it claimed. If not `all_written`, it could not and claims no more;
    // everything from the first piece not claimed here is then read.
    void helped(bool all_written);
    // Reads no more, and the sender can claim no more.
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

// The side of a sender that was requested to help.
class PieceWriter : private Task {
public:
    explicit PieceWriter(Endpoint &endpoint) : endpoint_(endpoint) { run = write; }
    ~PieceWriter() { stop(); }
    // Does nothing if that memory or word cannot be accessed.
    void begin(uint32_t peer, const HelpRequest &request, const Buffer &buffer);
    // Writes no more, because the buffer no longer belongs to it.
    void stop();
    bool busy() const { return word_ != nullptr; }

private:
    static int write(Task &task);
    void end(bool all_written);

    Endpoint &endpoint_;
    std::atomic<uint64_t> *word_ = nullptr;  // nullptr once it has ended
    HelpRequest request_{};
    uint32_t peer_ = no_peer;
    Buffer buffer_;
    uint64_t written_ = 0;  // pieces
};

}  // namespace lanyard
