// One send or receive on its way, wherever it lives: inside a request, on the stack of a blocking call, or in a step of
// a collective schedule. The caller fills the description, starts it with Messenger (messenger.h) while owning the
// engine, and is told by `completion`. Must not move or vanish before completion. Ready to be used again after it.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "base/list.h"
#include "datatype/cursor.h"
#include "engine/completion.h"
#include "engine/engine.h"
#include "p2p/arrived.h"
#include "p2p/channel.h"
#include "p2p/match.h"
#include "path/envelope.h"

namespace lanyard {

class Messenger;

constexpr uint32_t no_peer = UINT32_MAX;

enum class SendMode : uint8_t { standard, synchronous, ready };

// Key (match.h): context of the communicator, with collective_bit for collective traffic; rank: of a send my rank in the
// communicator, of a receive the rank wanted or any_source; tag, or any_tag.
// What a short message needs comes before the context of the completion: in few lines of the cache, as many receives may be posted.
struct Transfer : MatchEntry, Outgoing, Task {
    Buffer buffer;
    uint32_t peer = no_peer;  // the other side in the peer table; no_peer in a receive from any source
    uint32_t check = 0;

    // The result, valid once complete.
    int32_t matched_rank = any_source;
    int32_t matched_tag = any_tag;
    int64_t received = 0;  // bytes
    Error error;
    bool cancelled = false;

    SendMode mode = SendMode::standard;
    bool in_call = false;  // the call that began it waits for it at once

    // The messenger's own, but for the completion.
    bool cancelling = false;
    bool under_way = false;  // told to the engine
    bool watched = false;    // how fast it comes (ways.h)
    bool streamed = false;   // bulk is copied to its place past the caches
    enum class State : uint8_t { idle, queued, kept, offered, moving } state = State::idle;
    uint64_t id = 0;                        // names this transfer to the peer; 0 when the peer need not know
    std::atomic<uint64_t> *word = nullptr;  // where pieces or the whole are claimed (claims.h, claim.cc); nullptr once it is over

    Completion completion;
    int32_t destination = 0;       // of a send: the rank of `peer`, for reports only
    uint32_t data_peer = no_peer;  // whose bytes these are, while they move
    Messenger *messenger = nullptr;
    uint64_t remote_id = 0;       // the peer's transfer
    uint64_t remote_address = 0;  // of its bytes, where they can be read directly
    uint64_t moved = 0;           // bytes done
    uint64_t wanted = 0;          // bytes to move in all
    uint64_t first = 0;           // so many of them come with the offer
    Arrived arrived;              // of a message that comes in bulk
    bool announced = false;       // of a receive: its id is told to the peer; of a send: it goes to such a receive, and the peer has not asked
    bool written = false;         // of a receive: the offer named it, and nothing was asked for
    bool asked_for_bulk = false;  // or written
    bool in_place = false;        // bulk goes from one contiguous buffer to another
    uint32_t in_flight = 0;       // bulk frames that have not left the buffer
    bool received_by_peer = false;  // but bulk frames are still in flight
    Cursor cursor;
    uint32_t word_index = 0;
    uint32_t generation = 0;
    uint64_t ask_until_ns = 0;  // the sender is asked to claim its word (choose_way.cc)

    Transfer() = default;
    Transfer(const Transfer &) = delete;
    Transfer &operator=(const Transfer &) = delete;
};

}  // namespace lanyard
