// Describes one send or one receive of the program, of a collective or of the library itself. An operation
// lives in a request, on the stack of a blocking call, or in a step of a schedule. The caller fills in the
// description and starts the operation with Messenger (messenger.h) while the calling thread owns the engine.
// `completion` reports the end. An operation must neither move nor be destroyed before that. Afterwards it
// can be used again, with its completion reset. Its buffer, and the datatype that the buffer names, belong to
// the caller and must live until the completion. If the operation failed, the caller takes or discards
// `error`.
//
// The state that a protocol keeps for an operation is not part of the operation. It is an object of that
// protocol, to which the operation points while the object exists. Messages that are sent or received at once
// need no such object.
// Thread rule: the owner of the engine. Once complete, the thread that waits for the operation.
// Tested by: tests/unit/p2p/messenger_test.cc, tests/unit/p2p/eager_test.cc.
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
    uint32_t peer = no_peer;  // the other process; no_peer in a receive from any source
    uint32_t check = 0;       // the check word; the receiver compares the sender's with its own
    bool in_call = false;     // the call that started the operation waits for it at once

    // The result, valid once complete.
    bool cancelled = false;
    Error error;

    bool under_way = false;  // internal to p2p: the engine counts this operation as under way
    Completion completion;
};

// A send. Its MatchKey: the communicator's context, with collective_bit for collective traffic; this
// process's rank in the communicator; the tag.
struct SendOperation : MessageOperation, MatchKey {
    SendMode mode = SendMode::standard;
    bool mapped = false;  // offered although it could be eager (mapped_offers.h); set by Messenger::send()
    int32_t destination = 0;  // the rank of `peer` in the communicator, used only in reports
    UnfinishedSend *unfinished = nullptr;
};

// A receive. Its MatchKey: the same context; the wanted source's rank, or any_source; the tag, or any_tag.
struct ReceiveOperation : MessageOperation, MatchEntry {
    // The result, valid once complete.
    int32_t matched_rank = any_source;
    int32_t matched_tag = any_tag;
    int64_t received = 0;  // bytes of the message, as far as the buffer has room for them

    // Not nullptr while the sender may claim the receive or has claimed it, until the message is reported.
    Claimable *claimable = nullptr;
    // Not nullptr while the bytes arrive by rendezvous, or while the receive is announced over a network.
    Incoming *incoming = nullptr;
};

}  // namespace lanyard
