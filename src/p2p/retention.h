// Ends a blocking send of a long message before the receiver has the bytes. A path that may lose bulk (TCP)
// needs the bytes until the receiver reports `finished`, because a new connection may have to carry them
// again. The program need not wait for that: the library can keep a copy instead. Sends that follow then
// travel at once, and a rank that is early need not wait for its peer.
//
// Rule: keep() hands the message over to an operation and to memory of this class. It does so only while no
// frame refers to the program's buffer. The first bytes of the message, which travelled with the offer, may
// still be in the path's log; from then on the log takes them from the copy (Path::kept_moved). So nobody
// reads the program's buffer after the send is complete. Otherwise the message goes on as before: its offer
// has the same id, the receiver requests bytes and reports the end as always, and requests after a loss are
// served from the copy.
//
// - The caller first waits for twice the time that the copy takes, since most messages arrive within that
//   time if their receiver is there. A shorter wait would cost more than it gains.
// - A synchronous send is never kept: its end means that the message was received. With LANYARD_CHECK=on,
//   nothing is kept, so that a program that deadlocks without the copies is found.
// - For each peer, at most settings.retain bytes are kept, and most_kept bytes in all. Without room or
//   memory, the send waits as before.
// - If the peer fails, the message counts as lost, like an eager one that was sent (losses.h). MPI_Finalize
//   waits for kept messages as for all others (Messenger::nothing_pending()).
// Thread rule: the owner of the engine.
// Tested by: tests/unit/p2p/retention_test.cc, tests/sim/links_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>

#include "base/no_memory.h"
#include "p2p/endpoint.h"

namespace lanyard {

class Retention {
public:
    static constexpr uint64_t most_kept = 64 * MiB;
    enum class Result { kept, later, never };

    explicit Retention(Endpoint &endpoint) : endpoint_(endpoint) {}
    Retention(const Retention &) = delete;
    Retention &operator=(const Retention &) = delete;

    // How long a blocking call waits for this send, which is not complete, before it calls keep(). 0: it does
    // not call keep().
    uint64_t patience_ns(const SendOperation &send) const;
    // kept: the send is complete. later: bytes are still leaving the buffer. never: the send must wait.
    Result keep(SendOperation &send);
    // Returns memory that no message needs to the system.
    void give_back() { spare_ = {}; }
    // The bytes of all kept messages.
    uint64_t kept_bytes() const { return kept_bytes_; }

private:
    struct Block {
        FallibleArray<std::byte> bytes;
        size_t size = 0;
    };
    struct Kept {
        Retention *owner;
        Block block;
        SendOperation send;
    };

    static void ended(Completion &completion);
    Block take(size_t bytes);
    void end(Kept &kept);

    Endpoint &endpoint_;
    std::list<Kept> kept_;
    uint64_t kept_bytes_ = 0;
    Block spare_;  // the longest block that was used before
};

}  // namespace lanyard
