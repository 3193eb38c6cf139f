// Records which peers have failed or cannot be reached, and ensures that no message is lost without a report.
//
// - Every operation that is open with a failed peer fails, and so does every operation begun later. (A
//   receive from any source fails only if a message of that peer has met it.) Each of these errors states why
//   the peer cannot be reached, and how many earlier messages to it perhaps did not arrive.
// - The messages that perhaps did not arrive are of two kinds. The path gave up some of them
//   (Sink::undelivered). Their payload had been copied, so their sends were complete. The remaining messages
//   are failed sends whose result no caller queries (a buffered send, a freed request).
// - A call that returns such an error reports all messages to that peer counted until then. MPI_Finalize
//   reports the messages that no call has reported (untold()), before and after it waits for
//   acknowledgements.
// "Perhaps": a peer may have received a message although its acknowledgement was lost.
// Thread rule: the owner of the engine.
// Tested by: tests/unit/p2p/messenger_test.cc, tests/sim/dying_test.cc.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/error.h"

namespace lanyard {

class Losses {
public:
    void lose(uint32_t peer, std::string why) { losses_[peer].why = std::move(why); }
    // Counts a message of this many bytes that perhaps did not arrive and that no send operation reports.
    void add(uint32_t peer, uint64_t bytes) {
        Loss &loss = losses_[peer];
        ++loss.messages;
        loss.bytes += bytes;
        loss.told = false;
    }
    // The error for a call that fails because the peer has failed. `what` is the subject of the error
    // sentence.
    Error tell(uint32_t peer, const char *what);
    // Takes back tell(), because the error that it returned was discarded.
    void untell(uint32_t peer) { losses_[peer].told = false; }
    // The error that reports all messages that failed peers perhaps did not receive and that no error has
    // reported yet. No error if there are none.
    Error untold();

private:
    struct Loss {
        std::string why;
        uint64_t messages = 0, bytes = 0;  // sent, and perhaps not arrived
        bool told = false;                 // all of these have been reported
    };
    std::map<uint32_t, Loss> losses_;  // by peer
};

}  // namespace lanyard
