// Failed or unreachable peers, and the rule that no message is lost without a report.
//
// - Whatever is open with a failed peer fails, and so does whatever is begun with it. Each of these errors
//   states why the peer cannot be reached, and how many messages sent to it before may not have arrived.
// - Such messages are of two kinds: those that the path gave up (Sink::undelivered; their payload had been
//   copied, so their sends were complete), and failed sends whose result no caller queries (a buffered send,
//   a freed request).
// - A call that returns one of these errors reports all messages given up until then. MPI_Finalize reports
//   those that no call has reported (untold()), before and after it waits for acknowledgements.
// "May not": a peer may have received a message although its acknowledgement was lost.
// Thread rule: the owner of the engine.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/error.h"

namespace lanyard {

class Losses {
public:
    void lose(uint32_t peer, std::string why) { losses_[peer].why = std::move(why); }
    // A message of this many bytes, whose send was complete, may not have arrived.
    void add(uint32_t peer, uint64_t bytes) {
        Loss &loss = losses_[peer];
        ++loss.messages;
        loss.bytes += bytes;
        loss.told = false;
    }
    // The error for a call that fails because of the failed peer. `what` is the subject of its sentence.
    Error tell(uint32_t peer, const char *what);
    // The error that tell() returned has not been delivered.
    void untell(uint32_t peer) { losses_[peer].told = false; }
    // Messages that failed peers may not have received and that no error has reported yet.
    Error untold();

private:
    struct Loss {
        std::string why;
        uint64_t messages = 0, bytes = 0;  // sent, and may not have arrived
        bool told = false;                 // all of these have been reported
    };
    std::map<uint32_t, Loss> losses_;  // by peer
};

}  // namespace lanyard
