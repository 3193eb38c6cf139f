// Implements buffered sends (MPI-5.0 section 3.6). A message that cannot leave at once is packed into the
// buffer that the program has attached, and sent from that buffer. The message's space in the buffer is free
// again when the send completes. A buffer may be attached to a communicator, a session or the process.
// Messages on a communicator with a buffer use only that buffer. A session's buffer serves the communicators
// that are derived from the session and have no buffer of their own. The buffer of the process serves
// everything else. Thread rule: functions marked [owner] need the engine. The flush functions take the engine
// themselves, and so do the attach and detach functions of MPI.
// Tested by: tests/mpi/pt2pt/buffered.cc, tests/mpi/sessions/buffers.cc.
#pragma once

#include <memory>

#include "base/error.h"
#include "comm/comm.h"
#include "comm/session.h"
#include "datatype/datatype.h"
#include "p2p/match.h"

namespace lanyard {

// [owner] Fails with class `buffer` if no buffer is attached or its free space is too small. With
// MPI_BUFFER_AUTOMATIC, fails with class `no_mem` if there is no memory left.
Error send_buffered(Comm &comm, uint32_t peer, const MatchKey &key, const Buffer &buffer);

// These functions wait until all messages that are in the buffer now are sent. The first function uses the
// buffer of the communicator, if it has one, and the second the buffer of the session.
void flush_buffer_of(Comm &comm, const char *call);
void flush_buffer_of(Session &session, const char *call);

// Creates the SendBuffer of a new session. No memory of the program is attached to it yet.
std::shared_ptr<SendBuffer> make_send_buffer();

// The datatype of packed bytes, which is contiguous with one byte for each element.
Datatype &packed_datatype();

}  // namespace lanyard
