// One send or receive on its way, wherever it lives: inside a request, on the stack of a blocking call, or in a step of
// a collective schedule. The caller fills the description, starts it with Messenger (messenger.h) while owning the
// engine, and is told by `completion`. Must not move or vanish before completion.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "base/list.h"
#include "datatype/datatype.h"
#include "engine/completion.h"

namespace lanyard {

constexpr int32_t any_source = -1;
constexpr int32_t any_tag = -2;
constexpr uint32_t no_peer = UINT32_MAX;

enum class SendMode : uint8_t { standard, synchronous, ready };

struct Unexpected;

struct Transfer {
    // Described by the caller.
    Buffer buffer;
    uint64_t context = 0;     // of the communicator, with collective_bit for collective traffic
    uint32_t peer = no_peer;  // the other side in the peer table; no_peer in a receive from any source
    int32_t rank = 0;         // send: my rank in the communicator, told to the receiver. receive: the rank wanted, or any_source
    int32_t tag = 0;          // receive: or any_tag
    SendMode mode = SendMode::standard;
    uint32_t check = 0;

    // The result, valid once complete.
    int32_t matched_rank = any_source;
    int32_t matched_tag = any_tag;
    int64_t received = 0;  // bytes
    bool cancelled = false;
    Error error;

    Completion completion;

    // The messenger's own.
    Hook queue_hook;   // posted receives, in order of posting
    Hook bucket_hook;  // the same, by (context, rank, tag)
    uint64_t id = 0;   // names this transfer to the peer; 0 when the peer need not know
    uint64_t moved = 0;
    uint64_t remote_id = 0;
    uint8_t state = 0;
};

}  // namespace lanyard
