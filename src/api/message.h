// Message is the object behind an MPI_Message: a message that MPI_Mprobe has removed from matching, and that
// exists until a matched receive takes it (MPI-5.0 3.8.2).
// Tested by: tests/mpi/pt2pt/probe.cc.
#pragma once

#include "api/types.h"
#include "base/object.h"
#include "base/pool.h"
#include "comm/comm.h"

namespace lanyard {

struct Unexpected;  // p2p/unexpected.h

// In MPI_MESSAGE_NO_PROC, both pointers are nullptr.
struct Message : Object {
    Comm *comm = nullptr;  // kept alive by a reference of this message
    Unexpected *stored = nullptr;
};

ObjectPool<Message> &message_pool();
Message &message_no_proc();

}  // namespace lanyard
