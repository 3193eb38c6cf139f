// Buffered sends (MPI-5.0 section 3.6): a message that cannot leave at once is packed into the buffer the program attached and sent
// from there; its space is free again when the send completes. Owner of the engine only, but for the attach functions.
#pragma once

#include "base/error.h"
#include "datatype/datatype.h"
#include "p2p/match.h"
#include "p2p/messenger.h"

namespace lanyard {

// [owner] Fails with class `buffer` when no buffer is attached or what is free in it does not suffice.
Error send_buffered(Messenger &messenger, uint32_t peer, const MatchKey &key, const Buffer &buffer);

// The datatype of packed bytes: contiguous, one byte an element.
Datatype &packed_datatype();

}  // namespace lanyard
