// A request: what MPI_Wait and MPI_Test look at. One shape for every nonblocking operation: a completion and an error,
// what to put into the status, and the actions in which kinds of requests differ. A send or receive has its operation of
// p2p inside; what else there is (collectives, generalized requests, ...) keeps its own state, and finishes the bare
// operation when it is done.
// Thread rule: completed by the engine's owner; picked up by the thread that waits. Freed by the last of the two
// references: the handle, and the operation while it is under way.
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

// What is done to requests of one kind, instead of what is done to others; nullptr: nothing else. One constant table for
// each kind that needs one.
struct RequestActions {
    Error (*picked_up)(Request &) = nullptr;  // a wait or test has seen the completion
    void (*release)(Request &) = nullptr;     // the request ends
    Error (*start)(Request &) = nullptr;      // a persistent operation begins [owner]
    void (*hurry)(Request &) = nullptr;       // somebody is about to wait for it alone [owner]
    // These are called without the engine.
    Error (*cancel)(Request &) = nullptr;     // MPI_Cancel
    Error (*query)(Request &) = nullptr;      // somebody asks for the status
    Error (*freed)(Request &) = nullptr;      // MPI_Request_free
};
inline constexpr RequestActions no_actions;

// The operation of a request that is neither a send nor a receive.
struct OtherOperation : MessageOperation {
    Status status{};        // what the wait gives
    const char *name = "";  // for reports
};

// Many receives may be posted at once, so a request is as short as it can be: its kind's operation has what only that kind needs.
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
    bool active = false;  // started and not yet picked up by a wait or test
    bool shared = false;    // one of the two that stand for every send that is done at once
    bool batched = false;  // the one of those that a path may keep until it is picked up
    bool given_up = false;  // a generalized request that the program has freed and is yet to complete, for which alone its handle is left
    uint32_t number = 0;    // of kind `other`: its number on the communicator, for reports
    Comm *comm = nullptr;
    Datatype *datatype = nullptr;
    const RequestActions *actions = &no_actions;
    class SpareRequests *spares = nullptr;  // where it goes in the end, to be used again
    void *state = nullptr;  // of kind `other`: what its actions know
    union {
        MessageOperation operation;  // the beginning of each
        OtherOperation other;
        SendOperation send;
        ReceiveOperation receive;
    };

    Completion &completion() { return operation.completion; }
    bool complete() const { return operation.completion.complete(); }
};

static_assert(sizeof(Request) <= 256, "the next stride of the pool is twice as much");

// Of requests, and of messages of MPI_Mprobe: addresses are reserved for as many.
constexpr size_t most_open = size_t{1} << 23;
// For where a call cannot fail any more.
[[noreturn]] void end_for_lack(const char *object);

ObjectPool<Request> &request_pool();

// Active, with one reference for the handle.
Request &fresh_request(Request::Kind kind);
// The same of kind `other` on `comm`.
Request *new_request(Comm *comm);
// What the request holds until it ends. Predefined communicators and datatypes outlive all requests.
inline void hold_comm(Request &request, Comm *comm) {
    request.comm = comm;
    if (comm && !comm->predefined()) comm->hold();
}
inline void hold_datatype(Request &request, Datatype &datatype) {
    if (datatype.predefined()) return;
    request.datatype = &datatype;
    datatype.hold();
}
// Drops one reference; ends the request when it was the last.
void release_request(Request *request);
// The request that is complete from the start, for sends that needed nothing more; made when the library is loaded. Not to be released.
extern Request *const completed_send;
// The same where a path may keep what was sent, to send it with what follows, until this is picked up or freed.
extern Request *const batched_send;

// What is waited for or was asked of, as a status; also ends the request or, if persistent, makes it inactive. `request` becomes
// nullptr when it has ended. The operation's error comes back.
Error pick_up(Request *&request, Status *status);
// The status of a request that is complete; it stays as it is.
Error ask_status(Request &request, Status *status);
// The error with the request's communicator, whose handler is to be asked; it is held until then, as the request may be the last that holds it.
Error about(const Request &request, Error error);
// The empty status, which tells of an inactive or null request: MPI_ERROR is MPI_SUCCESS in it, whatever call
// gives it (MPI-5.0 3.7.3).
void set_empty(Status *status);

}  // namespace lanyard
