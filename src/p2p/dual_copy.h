// Copies a long contiguous message between two processes that can access each other's memory. The sender and
// the receiver both copy parts of the message.
//
//   sender                      receiver
//     rendezvous  ------------>   match; begin a generation of a word; read pieces from the front
//                 <------------   help (receiver's id and address, word)
//   write pieces from the back
//     helped      ------------>   (only if the sender claimed at least one piece)
//                 <------------   finished
//
// Both sides claim pieces by changing a shared word (shared_words.h), so each piece is moved exactly once. A
// sender that is not inside MPI does not answer. The receiver then reads all pieces itself and does not wait.
// Thread rule: the owner of the engine.
#pragma once

#include "datatype/datatype.h"
#include "engine/engine.h"
#include "p2p/endpoint.h"
#include "p2p/shared_words.h"

namespace lanyard {

// The payload of the envelope by which the receiver requests that the sender copies too.
struct HelpRequest {
    uint64_t receiver_id;
    uint64_t address;  // of the receive buffer
    uint32_t word;     // the index of the shared word
    uint32_t generation;
};

// The receiver's side.
class PieceReader : private Task {
public:
    class User {
    public:
        // All bytes are in the receive buffer.
        virtual void pieces_copied() = 0;
        // The kernel refused a read, and a log message says so. The user must move the message in another
        // way.
        virtual void pieces_refused() = 0;

    protected:
        ~User() = default;
    };

    // Can a message of this number of bytes be copied from both sides, and is that worthwhile?
    static bool suits(const Buffer &buffer, uint64_t bytes);

    explicit PieceReader(Endpoint &endpoint) : endpoint_(endpoint) { run = read; }
    ~PieceReader() { stop(); }
    // Begins to copy the message of `bytes` bytes that lies at `address` in the peer's memory. It must be the
    // whole message, since the sender divides the whole message into pieces too. `receiver_id` and
    // `sender_id` are the ids by which the two sides answer each other. False: the path has no free word, and
    // nothing has happened. The copy may end, with a call of `user`, before begin() returns.
    bool begin(uint32_t peer, uint64_t sender_id, uint64_t receiver_id, uint64_t address, std::byte *to,
               uint64_t bytes, User &user);
    // The sender reports that it has stopped writing. `all_written`: all pieces that the sender claimed are
    // written. Otherwise the sender could not write, and this process reads every piece that it has not
    // claimed itself.
    void helped(bool all_written);
    // Ends the copy: this process reads no more, and the sender can claim no more pieces. But the sender may
    // still write a piece that it has claimed.
    void stop();

private:
    static int read(Task &task);
    bool read_pieces(Share pieces);

    Endpoint &endpoint_;
    User *user_ = nullptr;
    OwnWord word_;
    uint32_t peer_ = no_peer;
    uint64_t address_ = 0, bytes_ = 0;
    std::byte *to_ = nullptr;
};

// The sender's side, used when the receiver has requested help.
class PieceWriter : private Task {
public:
    explicit PieceWriter(Endpoint &endpoint) : endpoint_(endpoint) { run = write; }
    ~PieceWriter() { stop(); }
    // Begins to write pieces of the message in `buffer`. Does nothing if the buffer is not contiguous, or if
    // the receiver's memory or the word cannot be accessed.
    void begin(uint32_t peer, const HelpRequest &request, const Buffer &buffer);
    // Writes no more, because the buffer may belong to the program again.
    void stop();
    bool busy() const { return word_ != nullptr; }

private:
    static int write(Task &task);
    void end(bool all_written);

    Endpoint &endpoint_;
    std::atomic<uint64_t> *word_ = nullptr;  // nullptr once this process has stopped writing
    HelpRequest request_{};
    uint32_t peer_ = no_peer;
    Buffer buffer_;
    uint64_t written_ = 0;  // pieces that this process has claimed and has written or tried to write
};

}  // namespace lanyard
