// Peers that are lost, and the rule that nothing is lost silently.
//
// - What is open with a lost peer fails, and whatever is begun with it. Each of these errors says why the peer is
//   lost, and how many messages sent to it before may not have arrived.
// - Such messages are those that the path gave up (Sink::undelivered: their payload had been copied, so that their
//   sends were over), and sends that fail though nobody asks how they ended: a buffered send, a freed request.
// - A call that returns one of these errors tells of all that was given up until then. What no call has told of,
//   MPI_Finalize does (untold()), before and after it waits for acknowledgements.
// "May not": a peer may have got a message though its acknowledgement was lost.
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
    // A message of so many bytes, whose send was over, may not have arrived.
    void add(uint32_t peer, uint64_t bytes) {
        Loss &loss = losses_[peer];
        ++loss.messages;
        loss.bytes += bytes;
        loss.told = false;
    }
    // For a call that fails because of the loss. `what` is the subject of the sentence.
    Error tell(uint32_t peer, const char *what);
    // The error that tell() gave has reached nobody.
    void untell(uint32_t peer) { losses_[peer].told = false; }
    // Messages that lost peers may not have got, as long as nobody has been told.
    Error untold();

private:
    struct Loss {
        std::string why;
        uint64_t messages = 0, bytes = 0;  // that were sent and may not have arrived
        bool told = false;                 // about all of these
    };
    std::map<uint32_t, Loss> losses_;  // by peer
};

}  // namespace lanyard
