// The receiver of a long message within a node reads it from the sender's memory, into its own layout.
// Thread rule: the owner of the engine.
#pragma once

#include <memory>

#include "datatype/cursor.h"
#include "engine/engine.h"
#include "p2p/endpoint.h"

namespace lanyard {

class DirectRead : private Task {
public:
    class User {
    public:
        virtual void read_all() = 0;
        // The kernel refused, and a log message says so. The message must be moved in another way.
        virtual void read_refused() = 0;

    protected:
        ~User() = default;
    };

    // Memory into which many short runs are read first. Allocated when it is needed, and shared by all reads.
    using Landing = std::unique_ptr<std::byte[]>;

    DirectRead(Endpoint &endpoint, Landing &landing) : endpoint_(endpoint), landing_(landing) { run = read; }
    ~DirectRead() { stop(); }
    // Reads the first `bytes` of the peer's message from that address of its memory. It may end before the
    // return.
    void begin(uint32_t peer, uint64_t address, const Buffer &to, uint64_t bytes, User &user);
    void stop() {
        if (hook.linked()) hook.unlink();
    }

private:
    static int read(Task &task);
    size_t read_piece(Error &error);

    Endpoint &endpoint_;
    Landing &landing_;
    User *user_ = nullptr;
    uint32_t peer_ = no_peer;
    uint64_t address_ = 0, wanted_ = 0, read_ = 0;
    Cursor cursor_;
};

}  // namespace lanyard
