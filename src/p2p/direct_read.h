// Reads a long message within a node from the sender's memory into the receive buffer, which may have gaps.
// Thread rule: the owner of the engine.
// Tested by: tests/unit/p2p/rendezvous_receive_test.cc.
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
        // The kernel refused the read, and a log message says so. The user must move the message in another
        // way.
        virtual void read_refused() = 0;

    protected:
        ~User() = default;
    };

    // Memory into which bytes are read first if the receive buffer consists of many short runs. Allocated
    // when first needed, and shared by all reads.
    using Landing = std::unique_ptr<std::byte[]>;

    DirectRead(Endpoint &endpoint, Landing &landing) : endpoint_(endpoint), landing_(landing) { run = read; }
    ~DirectRead() { stop(); }
    // Reads the first `bytes` of the message that lies at `address` in the peer's memory. The read may end,
    // with a call of `user`, before begin() returns.
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
