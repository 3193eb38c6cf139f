// A request is the object for which MPI_Wait waits. The requests of all nonblocking operations share one
// layout: a completion, an error, the contents of the status, and a table of the actions that differ between
// kinds of requests. The request of a send or receive contains the operation of src/p2p. The request of any
// other operation (a collective, a generalized request and others) contains an OtherOperation, keeps its own
// state elsewhere (`state`), and completes the OtherOperation when the operation is done. Thread rule: the
// engine's owner completes a request, and the thread that waits picks it up. The handle holds a reference to
// the request, and so may an operation under way. Dropping the last reference ends the request.
// Tested by: tests/mpi/pt2pt/cancel.cc, tests/mpi/pt2pt/waits.cc, tests/mpi/pt2pt/freed.cc.
#pragma once

#include <cstdint>
#include <new>

#include "api/types.h"
#include "base/error.h"
#include "base/object.h"
#include "base/pool.h"
#include "comm/comm.h"
#include "datatype/datatype.h"
#include "p2p/operation.h"

namespace lanyard {

struct Request;

// What one kind of request does at certain events; nullptr means nothing special. Each kind for which
// something differs has one constant table.
struct RequestActions {
    Error (*picked_up)(Request &) = nullptr;  // called when a wait or test has seen the completion
    void (*release)(Request &) = nullptr;     // called when the request ends, with or without the engine
    Error (*start)(Request &) = nullptr;      // [owner] starts a persistent operation
    // [owner] called when a thread is about to wait for this request only
    void (*hurry)(Request &) = nullptr;
    // The following are called without the engine, and so is picked_up().
    Error (*cancel)(Request &) = nullptr;  // called by MPI_Cancel
    Error (*query)(Request &) = nullptr;   // called by MPI_Request_get_status and similar functions
    Error (*freed)(Request &) = nullptr;   // called by MPI_Request_free, which then does nothing else
};
inline constexpr RequestActions no_actions;

// The operation of a request that is neither a send nor a receive.
struct OtherOperation : MessageOperation {
    Status status{};        // what the wait returns
    const char *name = "";  // for reports
};

// A request is as small as possible, because many receives may be posted at once. Most data that only one
// kind of request needs is in the operation of that kind.
struct Request : Object {
    enum class Kind : uint8_t { send, receive, other };

    explicit Request(Kind its_kind = Kind::other) : kind(its_kind) {
        if (kind == Kind::send) new (&send) SendOperation;
        else if (kind == Kind::receive) new (&receive) ReceiveOperation;
        else new (&other) OtherOperation;
    }
    ~Request() {}

    const Kind kind;
    bool persistent = false;
    bool active = false;  // started, and not yet picked up by a wait or test
    // one of the two requests that many sends share (below): `completed_send` or `batched_send`
    bool shared = false;
    // `batched_send`: a path may hold back the sends until the program picks up or frees this request
    bool batched = false;
    // a generalized request that the program has freed but not completed yet; its handle may still be
    // passed to MPI_Grequest_complete, and to nothing else
    bool given_up = false;
    uint32_t number = 0;  // for kind `other`: the operation's number on the communicator, for reports
    Comm *comm = nullptr;
    Datatype *datatype = nullptr;
    const RequestActions *actions = &no_actions;
    // the list that takes the ended request for reuse; nullptr: the request is destroyed
    class SpareRequests *spares = nullptr;
    void *state = nullptr;  // for kind `other`: the state of its actions; otherwise used by SpareRequests
    union {
        MessageOperation operation;  // the beginning of each of the following
        OtherOperation other;
        SendOperation send;
        ReceiveOperation receive;
    };

    Completion &completion() { return operation.completion; }
    bool complete() const { return operation.completion.complete(); }
};

static_assert(sizeof(Request) <= 256, "the next stride of the pool is twice as much");

// The maximum number of requests, and also the maximum number of messages of MPI_Mprobe.
constexpr size_t most_open = size_t{1} << 23;
// Ends the job with a message. Called for lack of memory in a call that can no longer return an
// error.
[[noreturn]] void end_for_lack(const char *object);

// The memory of all requests. Any thread. It exists until the process ends.
ObjectPool<Request> &request_pool();

// Returns an active request with one reference, which belongs to the handle.
Request &fresh_request(Request::Kind kind);
// Like fresh_request(), for a request of kind `other` on `comm`.
Request *new_request(Comm *comm);
// These functions make the request hold a communicator and a datatype until it ends. Predefined
// communicators and datatypes outlive all requests, so they are not held.
inline void hold_comm(Request &request, Comm *comm) {
    request.comm = comm;
    if (comm && !comm->predefined()) comm->hold();
}
inline void hold_datatype(Request &request, Datatype &datatype) {
    if (datatype.predefined()) return;
    request.datatype = &datatype;
    datatype.hold();
}
// Drops one reference and ends the request if it was the last.
void release_request(Request *request);
// The request for sends that need nothing more. It is complete from the start. It is created when the
// library is loaded and must not be released.
extern Request *const completed_send;
// Like completed_send, for batched sends. Until the program picks up or frees this request, a path may hold
// back the data of these sends, to send it together with the messages that follow.
extern Request *const batched_send;

// In the following functions, `status` may be nullptr.
//
// Stores the result of a completed request in `status` and returns the operation's error. Ends the request
// and sets `request` to nullptr, or makes it inactive if it is persistent.
Error pick_up(Request *&request, Status *status);
// Stores the status of a complete request and leaves the request as it is. Returns no error of the operation,
// only that of the action `query`.
Error ask_status(Request &request, Status *status);
// Attaches the request's communicator, if it has one, to the error, so that the communicator's error handler
// is called. The error holds the communicator, because the request may have had the last reference to it.
Error about(const Request &request, Error error);
// Stores the empty status, for inactive and null requests. Its MPI_ERROR is MPI_SUCCESS, whichever call
// returns the status (MPI-5.0 3.7.3).
void set_empty(Status *status);

}  // namespace lanyard
