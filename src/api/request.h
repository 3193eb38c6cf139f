// A request: the object of MPI_Wait and MPI_Test. All nonblocking operations share one layout: a completion,
// an error, the contents of the status, and a table of the actions that differ between kinds of requests. A
// send or receive contains its operation of src/p2p. Any other kind (collectives, generalized requests and
// others) keeps its own state and completes the plain operation when it is done. Thread rule: the engine's
// owner completes a request, and the thread that waits picks it up. There are up to two references, one for
// the handle and one for an operation under way. Dropping the last one frees the request.
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

// What one kind of request does at certain events; nullptr means nothing special. Each kind that needs a
// table has one constant table.
struct RequestActions {
    Error (*picked_up)(Request &) = nullptr;  // a wait or test has seen the completion
    void (*release)(Request &) = nullptr;     // the request ends
    Error (*start)(Request &) = nullptr;      // [owner] a persistent operation is started
    void (*hurry)(Request &) = nullptr;       // [owner] a thread is about to wait for this request only
    // The following are called without the engine.
    Error (*cancel)(Request &) = nullptr;     // MPI_Cancel
    Error (*query)(Request &) = nullptr;      // the status is requested
    Error (*freed)(Request &) = nullptr;      // MPI_Request_free
};
inline constexpr RequestActions no_actions;

// The operation of a request that is neither a send nor a receive.
struct OtherOperation : MessageOperation {
    Status status{};        // what the wait returns
    const char *name = "";  // for reports
};

// Many receives may be posted at once, so a request is as small as possible. What only one kind needs is in
// that kind's operation.
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
    bool shared = false;    // one of the two requests that stand for all sends that are complete at once
    bool batched = false;  // of those two, the one for sends that a path may keep until it is picked up
    // a generalized request that the program has freed but not completed yet; its handle remains only for
    // MPI_Grequest_complete
    bool given_up = false;
    uint32_t number = 0;    // for kind `other`: its number on the communicator, for reports
    Comm *comm = nullptr;
    Datatype *datatype = nullptr;
    const RequestActions *actions = &no_actions;
    class SpareRequests *spares = nullptr;  // the list that takes it when it ends, so that it is used again
    void *state = nullptr;  // for kind `other`: the state of its actions
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

// The maximum number of requests, and of messages of MPI_Mprobe: the address space that is reserved for each.
constexpr size_t most_open = size_t{1} << 23;
// For lack of memory in a call that can no longer return an error.
[[noreturn]] void end_for_lack(const char *object);

ObjectPool<Request> &request_pool();

// Returns an active request with one reference, that of the handle.
Request &fresh_request(Request::Kind kind);
// The same, of kind `other` on `comm`.
Request *new_request(Comm *comm);
// What the request holds until it ends. Predefined communicators and datatypes outlive all requests, so they
// are not held.
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
// The request for sends that need nothing more, complete from the start. Created when the library is loaded;
// must not be released.
extern Request *const completed_send;
// The same for sends whose data a path may keep, to send it together with what follows, until this request is
// picked up or freed.
extern Request *const batched_send;

// Stores the result of a completed request in `status` and returns the operation's error. Ends the request
// and sets `request` to nullptr, or makes it inactive if it is persistent.
Error pick_up(Request *&request, Status *status);
// The status of a complete request, which stays as it is.
Error ask_status(Request &request, Status *status);
// Attaches the request's communicator to the error, so that its error handler is called. The communicator is
// held until then, since the request may have the last reference.
Error about(const Request &request, Error error);
// The empty status, for inactive and null requests. MPI_ERROR is MPI_SUCCESS in it, whichever call returns it
// (MPI-5.0 3.7.3).
void set_empty(Status *status);

}  // namespace lanyard
