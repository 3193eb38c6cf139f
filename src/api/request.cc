#include "api/request.h"

#include <vector>

#include "api/generated/core.h"
#include "api/runtime.h"
#include "comm/create.h"
#include "comm/error_codes.h"
#include "datatype/datatype.h"

namespace lanyard {

namespace {

void end(Request &request) {
    if (request.release) request.release(request);
    if (request.comm) release_comm(request.comm);
    if (request.datatype) release(*request.datatype);
    request_pool().destroy(&request);
}

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

// Nothing to wait for: no request, or a persistent one that was not started.
bool idle(const Request *request) { return !request || !request->active; }

bool any_active(int count, Request *const *requests) {
    for (int i = 0; i < count; ++i)
        if (!idle(requests[i])) return true;
    return false;
}

int first_complete(int count, Request *const *requests) {
    for (int i = 0; i < count; ++i)
        if (!idle(requests[i]) && requests[i]->complete()) return i;
    return -1;
}

bool all_complete(int count, Request *const *requests) {
    for (int i = 0; i < count; ++i)
        if (!idle(requests[i]) && !requests[i]->complete()) return false;
    return true;
}

// One turn of the engine on behalf of a test that found nothing.
void make_progress() {
    Engine &engine = *runtime()->engine;
    EngineGuard guard(engine);
    engine.step_for_test();
}

void add_part(const Request &request, WaitParts &parts) {
    const Transfer &transfer = request.transfer;
    if (request.kind == Request::Kind::send) parts.add(WaitPart::send, transfer.destination, transfer.tag);
    else if (request.kind == Request::Kind::receive) parts.add(WaitPart::receive, transfer.rank, transfer.tag);
    else parts.add(WaitPart::other, abi::undefined, static_cast<int32_t>(request.number), request.operation);
}

void wait_for(Request &request, const char *call) {
    Engine &engine = *runtime()->engine;
    EngineGuard guard(engine);
    if (request.complete()) return;
    WaitParts parts;
    add_part(request, parts);
    Waiting waiting(call, request.comm, parts);
    engine.wait_owned(request.completion());
}

// Waits until at least one (all: every one) of the active requests is complete.
void wait_for_several(int count, Request *const *requests, bool all, const char *call) {
    Engine &engine = *runtime()->engine;
    EngineGuard guard(engine);
    Waiter waiter;
    waiter.remaining.store(1, std::memory_order_relaxed);
    for (int i = 0; i < count; ++i) {
        if (idle(requests[i])) continue;
        if (all) waiter.remaining.fetch_add(1, std::memory_order_relaxed);
        if (!requests[i]->completion().await(waiter)) waiter.remaining.fetch_sub(1, std::memory_order_relaxed);
    }
    if (all) waiter.remaining.fetch_sub(1, std::memory_order_relaxed);
    if (!waiter.done()) {
        WaitParts parts;
        const Comm *comm = nullptr;
        bool several = false;
        for (int i = 0; i < count; ++i) {
            if (idle(requests[i]) || requests[i]->complete()) continue;
            several |= comm && comm != requests[i]->comm;
            comm = requests[i]->comm;
            add_part(*requests[i], parts);
        }
        Waiting waiting(call, several ? nullptr : comm, parts);
        engine.wait_owned(waiter);
    }
    if (all) return;
    for (int i = 0; i < count; ++i)
        if (!idle(requests[i])) requests[i]->completion().forget(waiter);
}

// The errors of several requests become codes in their statuses; MPI_ERR_IN_STATUS tells that there are some (MPI-5.0 3.7.5).
class Gathered {
public:
    void add(Error error, Status *status) {
        if (!error) {
            if (status) status->error = 0;
            return;
        }
        ErrorRecord record = error.take();
        if (!first_.code) first_ = record;
        if (status) status->error = code_of(record);
    }
    Error error() {
        if (!first_.code) return {};
        Error error(ErrorClass::in_status, first_.sentence);
        return error.about(first_.about);
    }

private:
    static int code_of(const ErrorRecord &record) {
        return record.code <= static_cast<int>(ErrorClass::abi)
                   ? code_of_failure(static_cast<ErrorClass>(record.code), record.sentence)
                   : record.code;
    }
    ErrorRecord first_{0, {}, nullptr};
};

Status *status_at(Status *statuses, int i) { return statuses ? statuses + i : nullptr; }

// Picks up what is complete among the requests, in order.
Error pick_up_some(int count, Request **requests, int *outcount, int *indices, Status *statuses) {
    Gathered gathered;
    int found = 0;
    for (int i = 0; i < count; ++i) {
        if (idle(requests[i]) || !requests[i]->complete()) continue;
        Status *status = status_at(statuses, found);
        gathered.add(pick_up(requests[i], status), status);
        indices[found++] = i;
    }
    *outcount = found;
    return gathered.error();
}

Error pick_up_all(int count, Request **requests, Status *statuses) {
    Gathered gathered;
    for (int i = 0; i < count; ++i) {
        Status *status = status_at(statuses, i);
        if (idle(requests[i])) {
            set_empty(status);
            if (status) status->error = 0;
        } else {
            gathered.add(pick_up(requests[i], status), status);
        }
    }
    return gathered.error();
}

}  // namespace

ObjectPool<Request> &request_pool() {
    static ObjectPool<Request> *pool = new ObjectPool<Request>;  // lives until exit, past static destructors
    return *pool;
}

Request *new_request(Request::Kind kind, Comm *comm) {
    Request *request = request_pool().create();
    LANYARD_MUST(request != nullptr);
    request->kind = kind;
    request->active = true;
    request->comm = comm;
    if (comm) comm->hold();
    set_empty(&request->status);
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
    if (error) error = error.about(request->comm);
    if (request->persistent) {
        request->active = false;
    } else {
        release_request(request);
        request = nullptr;
    }
    return error;
}

extern "C" {

Error lanyard_wait(Request *&request, Status *status) {
    if (idle(request)) {
        set_empty(status);
        return {};
    }
    if (!request->complete()) wait_for(*request, "MPI_Wait");
    return pick_up(request, status);
}

Error lanyard_test(Request *&request, int *flag, Status *status) {
    *flag = 1;
    if (idle(request)) {
        set_empty(status);
        return {};
    }
    if (!request->complete()) make_progress();
    if (request->complete()) return pick_up(request, status);
    *flag = 0;
    return {};
}

Error lanyard_waitall(int count, Request **requests, Status *statuses) {
    if (!all_complete(count, requests)) wait_for_several(count, requests, true, "MPI_Waitall");
    return pick_up_all(count, requests, statuses);
}

Error lanyard_testall(int count, Request **requests, int *flag, Status *statuses) {
    if (!all_complete(count, requests)) make_progress();
    *flag = all_complete(count, requests);
    return *flag ? pick_up_all(count, requests, statuses) : Error();
}

Error lanyard_waitany(int count, Request **requests, int *indx, Status *status) {
    *indx = abi::undefined;
    if (!any_active(count, requests)) {
        set_empty(status);
        return {};
    }
    if (first_complete(count, requests) < 0) wait_for_several(count, requests, false, "MPI_Waitany");
    *indx = first_complete(count, requests);
    return pick_up(requests[*indx], status);
}

Error lanyard_testany(int count, Request **requests, int *indx, int *flag, Status *status) {
    *indx = abi::undefined;
    *flag = 1;
    if (!any_active(count, requests)) {
        set_empty(status);
        return {};
    }
    int found = first_complete(count, requests);
    if (found < 0) {
        make_progress();
        found = first_complete(count, requests);
    }
    *flag = found >= 0;
    if (found < 0) return {};
    *indx = found;
    return pick_up(requests[found], status);
}

Error lanyard_waitsome(int incount, Request **requests, int *outcount, int *indices, Status *statuses) {
    *outcount = abi::undefined;
    if (!any_active(incount, requests)) return {};
    if (first_complete(incount, requests) < 0) wait_for_several(incount, requests, false, "MPI_Waitsome");
    return pick_up_some(incount, requests, outcount, indices, statuses);
}

Error lanyard_testsome(int incount, Request **requests, int *outcount, int *indices, Status *statuses) {
    *outcount = abi::undefined;
    if (!any_active(incount, requests)) return {};
    if (first_complete(incount, requests) < 0) make_progress();
    return pick_up_some(incount, requests, outcount, indices, statuses);
}

Error lanyard_request_free(Request *&request) {
    if (!request->shared) {
        EngineGuard guard(*runtime()->engine);
        // An operation under way goes on; its own end then releases the request.
        if (request->active && !request->complete()) {
            request->hold();
            request->completion().context = request;
            request->completion().then = [](Completion &completion) {
                auto *ended = static_cast<Request *>(completion.context);
                if (ended->transfer.error) runtime()->messenger->unasked(ended->transfer, ended->kind == Request::Kind::send);
                release_request(ended);
            };
        }
        release_request(request);
    }
    request = nullptr;
    return {};
}

Error lanyard_cancel(Request &request) {
    if (request.shared || !request.active) return {};
    if (request.kind == Request::Kind::other && !request.cancel)
        return Error(ErrorClass::request, std::string(request.operation) + " cannot be cancelled; only sends and receives can");
    EngineGuard guard(*runtime()->engine);
    if (request.complete()) return {};
    if (request.cancel) request.cancel(request);
    else runtime()->messenger->cancel(request.transfer);
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

Error lanyard_request_get_status(Request *request, int *flag, Status *status) {
    *flag = 1;
    if (idle(request)) {
        set_empty(status);
        return {};
    }
    if (!request->complete()) make_progress();
    *flag = request->complete();
    if (*flag) set_status(*request, status);
    return {};
}

Error lanyard_request_get_status_all(int count, Request *const *requests, int *flag, Status *statuses) {
    if (!all_complete(count, requests)) make_progress();
    *flag = all_complete(count, requests);
    for (int i = 0; *flag && i < count; ++i) {
        Status *status = status_at(statuses, i);
        if (idle(requests[i])) set_empty(status);
        else set_status(*requests[i], status);
        if (status) status->error = 0;
    }
    return {};
}

Error lanyard_request_get_status_any(int count, Request *const *requests, int *indx, int *flag, Status *status) {
    *indx = abi::undefined;
    *flag = 1;
    if (!any_active(count, requests)) {
        set_empty(status);
        if (status) status->error = 0;
        return {};
    }
    if (first_complete(count, requests) < 0) make_progress();
    int found = first_complete(count, requests);
    *flag = found >= 0;
    if (found < 0) return {};
    *indx = found;
    set_status(*requests[found], status);
    return {};
}

Error lanyard_request_get_status_some(int incount, Request *const *requests, int *outcount, int *indices, Status *statuses) {
    *outcount = abi::undefined;
    if (!any_active(incount, requests)) return {};
    if (first_complete(incount, requests) < 0) make_progress();
    int found = 0;
    for (int i = 0; i < incount; ++i) {
        if (idle(requests[i]) || !requests[i]->complete()) continue;
        Status *status = status_at(statuses, found);
        set_status(*requests[i], status);
        if (status) status->error = 0;
        indices[found++] = i;
    }
    *outcount = found;
    return {};
}

}  // extern "C"

}  // namespace lanyard
