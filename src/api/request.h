// A request: what MPI_Wait and MPI_Test look at. One shape for every nonblocking operation: a completion, what to put into the
// status, and hooks for what differs (start again, cancel, clean up). Point-to-point operations use the transfer inside;
// collectives and others keep their own state and finish `transfer.completion` when they are done.
// Thread rule: completed by the engine's owner; picked up by the thread that waits. Freed by the last of the two references:
// the handle, and the operation while it is under way.
#pragma once

#include <cstdint>

#include "api/types.h"
#include "base/error.h"
#include "base/object.h"
#include "base/pool.h"
#include "comm/comm.h"
#include "datatype/datatype.h"
#include "p2p/transfer.h"

namespace lanyard {

struct Request : Object {
    enum class Kind : uint8_t { send, receive, other };

    Kind kind = Kind::other;
    bool persistent = false;
    bool active = false;  // started and not yet picked up by a wait or test
    bool shared = false;    // one of the two that stand for every send that is done at once
    bool gathered = false;  // the one of those that a path may keep until it is picked up
    Comm *comm = nullptr;
    Datatype *datatype = nullptr;
    void *state = nullptr;
    // Hooks, nullptr where there is nothing to do; those that each wait looks at are here. picked_up: the wait or test has seen the completion.
    // release: the request ends.
    Error (*picked_up)(Request &) = nullptr;
    void (*release)(Request &) = nullptr;
    Transfer transfer;
    Status status{};  // of kind `other`: what the wait gives
    const char *operation = "";  // of kind `other`: its name and number on the communicator, for reports
    uint32_t number = 0;
    bool given_up = false;  // a generalized request that the program has freed and is yet to complete, for which alone its handle is left

    // More hooks. start: a persistent operation begins (engine owned). hurry: somebody is about to wait for it alone (engine owned). The rest,
    // called without the engine, are instead of what is done to other requests: cancel: MPI_Cancel. query: somebody asks for the status.
    // freed: MPI_Request_free.
    Error (*start)(Request &) = nullptr;
    void (*hurry)(Request &) = nullptr;
    Error (*cancel)(Request &) = nullptr;
    Error (*query)(Request &) = nullptr;
    Error (*freed)(Request &) = nullptr;

    Completion &completion() { return transfer.completion; }
    bool complete() const { return transfer.completion.complete(); }
};

static_assert(sizeof(Request) <= 512, "the next stride of the pool is twice as much");

// Of requests, and of messages of MPI_Mprobe: addresses are reserved for as many.
constexpr size_t most_open = size_t{1} << 23;
// For where a call cannot fail any more.
[[noreturn]] void end_for_lack(const char *object);

ObjectPool<Request> &request_pool();

// Active, with one reference for the handle.
Request &fresh_request();
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
extern Request *const gathered_send;

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
