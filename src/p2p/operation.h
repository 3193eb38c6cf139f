// One send or one receive of the program, of a collective or of the library itself. It lives in a request, on
// the stack of a blocking call, or in a step of a schedule. The caller fills in the description and starts
// the operation with Messenger (messenger.h) while it owns the engine. `completion` reports the end. An
// operation must neither move nor be destroyed before that. Afterwards it can be used again.
//
// What a protocol has to remember is not part of the operation. It is a state object of that protocol, to
// which the operation points while it exists. Messages that are sent or received at once need none.
// Thread rule: the owner of the engine.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "datatype/cursor.h"
#include "engine/completion.h"
#include "p2p/match.h"

namespace lanyard {

class Incoming;        // rendezvous_receive.h
class UnfinishedSend;  // unfinished_send.h
struct Claimable;      // shm_advert.h

constexpr uint32_t no_peer = UINT32_MAX;

enum class SendMode : uint8_t { standard, synchronous, ready };

struct MessageOperation {
    MessageOperation() = default;
    MessageOperation(const MessageOperation &) = delete;
    MessageOperation &operator=(const MessageOperation &) = delete;

    Buffer buffer;
    uint32_t peer = no_peer;  // the other side in the peer table; no_peer in a receive from any source
    uint32_t check = 0;       // both sides must give the same value (Envelope::check)
    bool in_call = false;     // the call that started it waits for it at once

    // The result, valid once complete.
    bool cancelled = false;
    Error error;

    bool under_way = false;  // internal to p2p: the engine counts it as under way
    Completion completion;
};

// Its key: the communicator's context, with collective_bit for collective traffic; this process's rank there;
// the tag.
struct SendOperation : MessageOperation, MatchKey {
    SendMode mode = SendMode::standard;
    int32_t destination = 0;  // the rank of `peer`, for reports only
    UnfinishedSend *unfinished = nullptr;
};

// Its key: the same context; the wanted rank, or any_source; the tag, or any_tag.
struct ReceiveOperation : MessageOperation, MatchEntry {
    // The result, valid once complete.
    int32_t matched_rank = any_source;
    int32_t matched_tag = any_tag;
    int64_t received = 0;  // bytes

    Claimable *claimable = nullptr;  // while its sender may write it, and no message has met it
    Incoming *incoming = nullptr;    // while its bytes arrive by rendezvous, or may: it is announced
};

}  // namespace lanyard
