// Creates, starts, cancels, frees and ends requests (MPI-5.0 sections 3.7 to 3.9). See request.h for the
// thread rule.
#include "api/request.h"

#include <cstdlib>
#include <string>
#include <utility>

#include "api/generated/core.h"
#include "api/requests.h"
#include "api/spare_requests.h"
#include "base/no_memory.h"
#include "comm/create.h"
#include "datatype/datatype.h"
#include "runtime/runtime.h"

namespace lanyard {

namespace {

[[gnu::always_inline]] inline void end(Request &request) {
    SpareRequests *spares = request.spares;
    if (!spares && request.actions->release) request.actions->release(request);
    if (request.datatype) release(*std::exchange(request.datatype, nullptr));
    Comm *comm = request.comm;
    if (spares) spares->keep(request, comm->universe->engine);
    else request_pool().destroy(&request);
    if (comm && !comm->predefined()) release_comm(comm);
}

// [owner] Called for a complete operation whose result no call returns.
void drop_error(Request &request) {
    if (request.operation.error)
        runtime()->messenger->unasked(request.operation, request.kind == Request::Kind::send);
}

// Called when an operation completes after the program has freed its request. Releases the request.
void end_given_up(Completion &completion) {
    auto *ended = static_cast<Request *>(completion.context);
    completion.then = nullptr;
    drop_error(*ended);
    release_request(ended);
}

}  // namespace

ObjectPool<Request> &request_pool() {
    // never destroyed, because destructors of static objects may still use it
    static ObjectPool<Request> *pool = new ObjectPool<Request>(most_open, 0);
    return *pool;
}

void end_for_lack(const char *object) {
    Universe &universe = *runtime()->universe;
    universe.abort(universe, static_cast<int>(ErrorClass::no_mem),
                   "Lanyard: rank " + std::to_string(universe.world->rank) + " can have no further " +
                       object + ": " + std::to_string(most_open) +
                       " are not over yet, or there is no memory left; the job ends",
                   false);
    std::abort();
}

constinit SpareRequests spare_sends, spare_receives;

Request &fresh_request(Request::Kind kind) {
    Request *request = request_pool().create(kind);
    if (!request) end_for_lack("request");
    if (kind == Request::Kind::send) request->spares = &spare_sends;
    if (kind == Request::Kind::receive) request->spares = &spare_receives;
    request->active = true;
    return *request;
}

Request *new_request(Comm *comm) {
    Request &request = fresh_request(Request::Kind::other);
    hold_comm(request, comm);
    set_empty(&request.other.status);
    return &request;
}

void release_request(Request *request) {
    if (request->let_go()) end(*request);
}

namespace {

Request *new_shared_send(bool batched) {
    Request *made = request_pool().create(Request::Kind::send);
    if (!made) end_without_memory();
    made->active = made->shared = true;
    made->batched = batched;
    made->completion().set_complete();
    return made;
}

}  // namespace

Request *const completed_send = new_shared_send(false);
Request *const batched_send = new_shared_send(true);

namespace {

// Fills the status of a send, in which only `cancelled` has a meaning (MPI-5.0 3.2.5). The error is not
// set here; only calls on several requests set it.
inline void set_sent(Status &status) {
    status.source = abi::any_source;
    status.tag = abi::any_tag;
    status.set_count(0);
    status.cancelled = 0;
}

}  // namespace

void set_empty(Status *status) {
    if (!status) return;
    set_sent(*status);
    status->error = abi::success;
}

namespace {

[[gnu::noinline]] void fill_status(const Request &request, Status *status) {
    if (request.kind == Request::Kind::other) {
        int32_t error = status->error;  // only calls on several requests set the error (MPI-5.0 3.2.5)
        *status = request.other.status;
        status->error = error;
        return;
    }
    if (request.kind == Request::Kind::send) {
        set_sent(*status);
    } else {
        status->source = request.receive.matched_rank;
        status->tag = request.receive.matched_tag;
        status->set_count(request.receive.received);
    }
    status->cancelled = request.operation.cancelled;
}

inline void set_status(const Request &request, Status *status) {
    if (status) fill_status(request, status);
}

}  // namespace

Error about(const Request &request, Error error) {
    if (!request.comm) return error;
    request.comm->hold();
    return error.about(
        std::shared_ptr<void>(request.comm, [](void *comm) { release_comm(static_cast<Comm *>(comm)); }));
}

Error ask_status(Request &request, Status *status) {
    Error error = request.actions->query ? request.actions->query(request) : Error();
    set_status(request, status);
    return error;
}

namespace {

// Sends a waiting batch by taking and leaving the engine: a thread that leaves MPI sends waiting batches,
// unless its call has allowed batching (see Batching).
[[gnu::noinline]] void send_batch() { EngineGuard guard(*runtime()->engine); }

[[gnu::always_inline]] inline Error take_up(Request *&request, Status *status) {
    Request &picked = *request;
    if (picked.shared) {
        if (picked.batched) [[unlikely]]
            send_batch();
        if (status) set_sent(*status);
        request = nullptr;
        return {};
    }
    Error error = std::exchange(picked.operation.error, {});
    if (picked.actions->picked_up) {
        Error second = picked.actions->picked_up(picked);
        if (error) second.discard();
        else error = second;
    }
    set_status(picked, status);
    if (error) [[unlikely]] error = about(picked, error);
    if (picked.persistent) {
        picked.active = false;
    } else {
        request = nullptr;
        picked.handles.store(0, std::memory_order_relaxed);  // 0, because a request has only one handle
        if (picked.let_go()) end(picked);
    }
    return error;
}

}  // namespace

Error pick_up(Request *&request, Status *status) { return take_up(request, status); }

Error pick_up_all(int count, Request **requests, Status *statuses) {
    StatusErrors errors;
    for (int i = 0; i < count; ++i) {
        Status *status = status_at(statuses, i);
        if (idle(requests[i])) set_empty(status);
        else if (Error error = take_up(requests[i], status)) [[unlikely]] {
            errors.add(error, status);
            continue;
        }
        if (status) status->error = 0;
    }
    return errors.error();
}

extern "C" {

Error lanyard_request_free(Request *&request) {
    if (request->given_up)
        return about(*request, {ErrorClass::request, "MPI_Request_free was called for this request before"});
    if (request->actions->freed) {
        Request &ended = *std::exchange(request, nullptr);
        return ended.actions->freed(ended);
    }
    if (!request->shared) {
        EngineGuard guard(*runtime()->engine);
        // An operation under way continues. When it is complete, end_given_up() releases the
        // request.
        if (request->active && !request->complete()) {
            request->hold();
            request->completion().context = request;
            request->completion().then = end_given_up;
        } else {
            drop_error(*request);
        }
        request->end_handle();
        release_request(request);
    } else if (request->batched) {
        send_batch();
    }
    request = nullptr;
    return {};
}

Error lanyard_cancel(Request &request) {
    if (request.actions->cancel) return request.actions->cancel(request);
    if (request.shared || !request.active) return {};
    if (request.kind == Request::Kind::other)
        return Error(ErrorClass::request,
                     std::string(request.other.name) + " cannot be cancelled; only sends and receives can");
    EngineGuard guard(*runtime()->engine);
    if (request.complete()) return {};
    if (request.kind == Request::Kind::send) runtime()->messenger->cancel(request.send);
    else runtime()->messenger->cancel(request.receive);
    return {};
}

Error lanyard_start(Request *&request) {
    if (!request->persistent)
        return Error(ErrorClass::request, "the request is not persistent, so it cannot be started");
    if (request->active)
        return Error(ErrorClass::request,
                     "the request is active already; wait for it before starting it again");
    request->active = true;
    request->completion().reset();
    EngineGuard guard(*runtime()->engine);
    return request->actions->start(*request);
}

Error lanyard_startall(int count, Request **requests) {
    for (int i = 0; i < count; ++i) {
        if (!requests[i])
            return Error(ErrorClass::request,
                         "request " + std::to_string(i) + " of the array is MPI_REQUEST_NULL");
        if (Error error = lanyard_start(requests[i]))
            return error.within("request " + std::to_string(i) + " of the array");
    }
    return {};
}

}  // extern "C"

}  // namespace lanyard
