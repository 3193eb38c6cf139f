// Requests from their making to their end; starting, cancelling and freeing them (MPI-5.0 sections 3.7 to 3.9).
#include "api/request.h"

#include <cstdlib>
#include <string>
#include <utility>

#include "api/generated/core.h"
#include "api/runtime.h"
#include "comm/create.h"
#include "datatype/datatype.h"

namespace lanyard {

namespace {

// Ended requests of sends and receives, which the next ones take as they are: to make one anew takes longer than a short message.
class SpareRequests {
public:
    void keep(Request &request) {
        MaybeGuard guard(lock_);
        request.state = first_;
        first_ = &request;
    }
    Request *take() {
        MaybeGuard guard(lock_);
        Request *request = first_;
        if (request) first_ = static_cast<Request *>(std::exchange(request->state, nullptr));
        return request;
    }

private:
    // Where one thread alone is in MPI it needs no lock.
    class MaybeGuard {
    public:
        explicit MaybeGuard(SpinLock &lock) : lock_(runtime()->engine->single_threaded() ? nullptr : &lock) {
            if (lock_) lock_->lock();
        }
        ~MaybeGuard() {
            if (lock_) lock_->unlock();
        }
        MaybeGuard(const MaybeGuard &) = delete;
        MaybeGuard &operator=(const MaybeGuard &) = delete;

    private:
        SpinLock *lock_;
    };

    Request *first_ = nullptr;
    SpinLock lock_;
};

SpareRequests &spare_requests() {
    static SpareRequests spares;
    return spares;
}

// Ready to be used again: what an operation does not set itself is as in a new one.
void renew(Request &request) {
    Transfer &transfer = request.transfer;
    transfer.check = 0;
    transfer.cancelled = false;
    transfer.data_peer = no_peer;
    transfer.completion.then = nullptr;
    transfer.completion.reset();
    request.handles.store(1, std::memory_order_relaxed);
    request.references.store(1, std::memory_order_relaxed);
}

// Predefined communicators outlive all requests, and others are held.
void hold_comm(Request &request, Comm *comm) {
    request.comm = comm;
    if (comm && !comm->predefined()) comm->hold();
}

void end(Request &request) {
    if (request.release) request.release(request);
    if (request.comm && !request.comm->predefined()) release_comm(request.comm);
    if (request.datatype) release(*std::exchange(request.datatype, nullptr));
    if (request.kind == Request::Kind::other || request.persistent) request_pool().destroy(&request);
    else spare_requests().keep(request);
}

// The operation of a request that the program has given up is over.
void end_given_up(Completion &completion) {
    auto *ended = static_cast<Request *>(completion.context);
    if (ended->transfer.error) runtime()->messenger->unasked(ended->transfer, ended->kind == Request::Kind::send);
    release_request(ended);
}

}  // namespace

ObjectPool<Request> &request_pool() {
    static ObjectPool<Request> *pool = new ObjectPool<Request>(most_open, 0);  // lives until exit, past static destructors
    return *pool;
}

void end_for_lack(const char *object) {
    Universe &universe = *runtime()->universe;
    universe.abort(universe, static_cast<int>(ErrorClass::no_mem),
                   "Lanyard: rank " + std::to_string(universe.world->rank) + " can have no further " + object + ": " +
                       std::to_string(most_open) + " are not over yet, or there is no memory left; the job ends");
    std::abort();
}

Request *new_request(Request::Kind kind, Comm *comm) {
    Request *request = kind == Request::Kind::other ? nullptr : spare_requests().take();
    if (request) renew(*request);
    else request = request_pool().create();
    if (!request) end_for_lack("request");
    request->kind = kind;
    request->active = true;
    hold_comm(*request, comm);
    if (kind == Request::Kind::other) set_empty(&request->status);
    return request;
}

void release_request(Request *request) {
    if (request->let_go()) end(*request);
}

Request *completed_send() {
    static Request *request = [] {
        Request *made = request_pool().create();
        LANYARD_MUST(made != nullptr);
        made->kind = Request::Kind::send;
        made->active = made->shared = true;
        made->completion().set_complete();
        return made;
    }();
    return request;
}

void set_empty(Status *status) {
    if (!status) return;
    status->source = abi::any_source;
    status->tag = abi::any_tag;
    status->set_count(0);
    status->cancelled = 0;
}

namespace {

void set_status(const Request &request, Status *status) {
    if (!status) return;
    if (request.kind == Request::Kind::other) {
        int32_t error = status->error;  // only calls on several requests set it (MPI-5.0 3.2.5)
        *status = request.status;
        status->error = error;
        return;
    }
    const Transfer &transfer = request.transfer;
    if (request.kind == Request::Kind::send) {
        set_empty(status);
    } else {
        status->source = transfer.matched_rank;
        status->tag = transfer.matched_tag;
        status->set_count(transfer.received);
    }
    status->cancelled = transfer.cancelled;
}

}  // namespace

Error about(const Request &request, Error error) {
    if (!request.comm) return error;
    request.comm->hold();
    return error.about(std::shared_ptr<void>(request.comm, [](void *comm) { release_comm(static_cast<Comm *>(comm)); }));
}

Error ask_status(Request &request, Status *status) {
    Error error = request.query ? request.query(request) : Error();
    set_status(request, status);
    return error;
}

Error pick_up(Request *&request, Status *status) {
    if (request->shared) {
        set_empty(status);
        request = nullptr;
        return {};
    }
    Error error = request->transfer.error;
    request->transfer.error = {};
    if (request->picked_up) {
        Error second = request->picked_up(*request);
        if (error) second.discard();
        else error = second;
    }
    set_status(*request, status);
    if (error) error = about(*request, error);
    if (request->persistent) {
        request->active = false;
    } else {
        request->handles.store(0, std::memory_order_relaxed);  // a request has one handle
        release_request(request);
        request = nullptr;
    }
    return error;
}

extern "C" {

Error lanyard_request_free(Request *&request) {
    if (request->given_up) return about(*request, {ErrorClass::request, "MPI_Request_free was called for this request before"});
    if (request->freed) {
        Request &ended = *std::exchange(request, nullptr);
        return ended.freed(ended);
    }
    if (!request->shared) {
        EngineGuard guard(*runtime()->engine);
        // An operation under way goes on; its own end then releases the request.
        if (request->active && !request->complete()) {
            request->hold();
            request->completion().context = request;
            request->completion().then = end_given_up;
        }
        request->end_handle();
        release_request(request);
    }
    request = nullptr;
    return {};
}

Error lanyard_cancel(Request &request) {
    if (request.cancel) return request.cancel(request);
    if (request.shared || !request.active) return {};
    if (request.kind == Request::Kind::other)
        return Error(ErrorClass::request, std::string(request.operation) + " cannot be cancelled; only sends and receives can");
    EngineGuard guard(*runtime()->engine);
    if (!request.complete()) runtime()->messenger->cancel(request.transfer);
    return {};
}

Error lanyard_start(Request *&request) {
    if (!request->persistent) return Error(ErrorClass::request, "the request is not persistent, so it cannot be started");
    if (request->active) return Error(ErrorClass::request, "the request is active already; wait for it before starting it again");
    request->active = true;
    request->completion().reset();
    EngineGuard guard(*runtime()->engine);
    return request->start(*request);
}

Error lanyard_startall(int count, Request **requests) {
    for (int i = 0; i < count; ++i) {
        if (!requests[i]) return Error(ErrorClass::request, "request " + std::to_string(i) + " of the array is MPI_REQUEST_NULL");
        if (Error error = lanyard_start(requests[i])) return error.within("request " + std::to_string(i) + " of the array");
    }
    return {};
}

}  // extern "C"

}  // namespace lanyard
