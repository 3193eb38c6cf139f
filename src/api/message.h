// A message that MPI_Mprobe has removed from matching, until a matched receive takes it (MPI-5.0 3.8.2).
#pragma once

#include "api/types.h"
#include "base/object.h"
#include "base/pool.h"
#include "comm/comm.h"

namespace lanyard {

struct Unexpected;  // p2p/unexpected.h

struct Message : Object {
    Comm *comm = nullptr;  // held
    Unexpected *stored = nullptr;
};

ObjectPool<Message> &message_pool();
Message &message_no_proc();

}  // namespace lanyard
