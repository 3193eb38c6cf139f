// Buffered sends (MPI-5.0 section 3.6): a message that cannot leave at once is packed into the buffer the program attached and sent
// from there; its space is free again when the send completes. A buffer may be attached to a communicator, whose messages then use
// no other, to a session, for other communicators that come from it, and to the process, for all others. Owner of the engine only,
// but for the attach and detach functions.
#pragma once

#include <memory>

#include "base/error.h"
#include "comm/comm.h"
#include "comm/session.h"
#include "datatype/datatype.h"
#include "p2p/match.h"

namespace lanyard {

// [owner] Fails with class `buffer` when no buffer is attached or what is free in it does not suffice.
Error send_buffered(Comm &comm, uint32_t peer, const MatchKey &key, const Buffer &buffer);

// Waits until the messages in the communicator's own buffer, if it has one, or in the session's are sent.
void flush_buffer_of(Comm &comm, const char *call);
void flush_buffer_of(Session &session, const char *call);

// A session's, with nothing attached yet.
std::shared_ptr<SendBuffer> make_send_buffer();

// The datatype of packed bytes: contiguous, one byte an element.
Datatype &packed_datatype();

}  // namespace lanyard
