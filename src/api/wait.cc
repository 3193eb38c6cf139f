// Defines the typed functions (types.h) that wait for requests and test them (MPI-5.0 sections 3.7.3 and
// 3.7.5). These functions pick up the requests that are complete. Any thread.
// Tested by: tests/mpi/pt2pt/waits.cc, tests/mpi/threads/shared.cc.
#include "api/generated/core.h"
#include "api/requests.h"
#include "runtime/runtime.h"
#include "runtime/waiting.h"

namespace lanyard {

namespace {

void add_part(const Request &request, WaitParts &parts) {
    if (request.kind == Request::Kind::send)
        parts.add(WaitPart::send, request.send.destination, request.send.tag);
    else if (request.kind == Request::Kind::receive)
        parts.add(WaitPart::receive, request.receive.rank, request.receive.tag);
    else parts.add(WaitPart::other, abi::undefined, static_cast<int32_t>(request.number), request.other.name);
}

// Returns an error if one of the requests is a generalized request that the program has freed but not
// completed yet, because the call might then wait forever. The caller owns the engine.
Error refuse_given_up(int count, Request *const *requests) {
    for (int i = 0; i < count; ++i)
        if (!idle(requests[i]) && requests[i]->kind == Request::Kind::other && requests[i]->given_up)
            return about(
                *requests[i],
                {ErrorClass::request,
                 "the request was given up with MPI_Request_free; nothing can be learnt of it any more"});
    return {};
}

Error wait_for(Request *request, const char *call) {
    Engine &engine = *runtime()->engine;
    EngineGuard guard(engine);
    if (request->complete()) return {};
    if (Error error = refuse_given_up(1, &request)) return error;
    if (request->actions->hurry) {
        request->actions->hurry(*request);
        if (request->complete()) return {};
    }
    runtime()->messenger->withdraw_claims();
    if (met_soon(*runtime(), request->completion())) return {};
    WaitParts parts;
    add_part(*request, parts);
    Waiting waiting(call, request->comm, parts);
    engine.wait_owned(request->completion());
    return {};
}

// Waits until as many requests are complete as `awaited` requires. `awaited` is a Condition or a Waiter. The
// caller owns the engine.
template <class Awaited>
void wait_for_several(int count, Request *const *requests, Awaited &awaited, const char *call) {
    if (met_soon(*runtime(), awaited)) return;
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
    runtime()->engine->wait_owned(awaited);
}

// Checks whether all requests of an array are complete. Goes through the array in order and does
// not check a request again once it is complete.
class All {
public:
    All(int count, Request *const *requests) : count_(count), requests_(requests) {}
    bool complete() {
        int i = first_open_, count = count_;
        for (Request *const *requests = requests_;
             i < count && (idle(requests[i]) || requests[i]->complete());)
            ++i;
        first_open_ = i;
        return i == count;
    }

private:
    int count_, first_open_ = 0;
    Request *const *requests_;
};

Error wait_for_all(int count, Request *const *requests, All &all) {
    EngineGuard guard(*runtime()->engine);
    if (Error error = refuse_given_up(count, requests)) return error;
    runtime()->messenger->withdraw_claims();
    Condition complete{
        [](const void *subject) { return static_cast<All *>(const_cast<void *>(subject))->complete(); },
        &all};
    if (!all.complete()) wait_for_several(count, requests, complete, "MPI_Waitall");
    return {};
}

Error wait_for_any(int count, Request *const *requests, const char *call) {
    EngineGuard guard(*runtime()->engine);
    if (Error error = refuse_given_up(count, requests)) return error;
    runtime()->messenger->withdraw_claims();
    Waiter waiter;
    waiter.remaining.store(1, std::memory_order_relaxed);
    for (int i = 0; i < count; ++i)
        if (!idle(requests[i]) && !requests[i]->completion().await(waiter))
            waiter.remaining.store(0, std::memory_order_relaxed);
    if (!waiter.done()) wait_for_several(count, requests, waiter, call);
    for (int i = 0; i < count; ++i)
        if (!idle(requests[i])) requests[i]->completion().forget(waiter);
    return {};
}

// Picks up those requests that are complete, in order.
Error pick_up_some(int count, Request **requests, int *outcount, int *indices, Status *statuses) {
    StatusErrors errors;
    int found = 0;
    for (int i = 0; i < count; ++i) {
        if (idle(requests[i]) || !requests[i]->complete()) continue;
        Status *status = status_at(statuses, found);
        errors.add(pick_up(requests[i], status), status);
        indices[found++] = i;
    }
    *outcount = found;
    return errors.error();
}

}  // namespace

Error make_progress(int count, Request *const *requests) {
    Engine &engine = *runtime()->engine;
    EngineGuard guard(engine);
    if (Error error = refuse_given_up(count, requests)) return error;
    engine.turn_for_test();
    return {};
}

extern "C" {

Error lanyard_wait(Request *&request, Status *status) {
    if (idle(request)) {
        set_empty(status);
        return {};
    }
    if (!request->complete())
        if (Error error = wait_for(request, "MPI_Wait")) return error;
    return pick_up(request, status);
}

Error lanyard_test(Request *&request, int *flag, Status *status) {
    *flag = 1;
    if (idle(request)) {
        set_empty(status);
        return {};
    }
    if (!request->complete())
        if (Error error = make_progress(1, &request)) return error;
    if (request->complete()) return pick_up(request, status);
    *flag = 0;
    return {};
}

Error lanyard_waitall(int count, Request **requests, Status *statuses) {
    All all(count, requests);
    if (!all.complete())
        if (Error error = wait_for_all(count, requests, all)) return error;
    return pick_up_all(count, requests, statuses);
}

Error lanyard_testall(int count, Request **requests, int *flag, Status *statuses) {
    if (!all_complete(count, requests))
        if (Error error = make_progress(count, requests)) return error;
    *flag = all_complete(count, requests);
    return *flag ? pick_up_all(count, requests, statuses) : Error();
}

Error lanyard_waitany(int count, Request **requests, int *indx, Status *status) {
    *indx = abi::undefined;
    if (!any_active(count, requests)) {
        set_empty(status);
        return {};
    }
    if (first_complete(count, requests) < 0)
        if (Error error = wait_for_any(count, requests, "MPI_Waitany")) return error;
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
        if (Error error = make_progress(count, requests)) return error;
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
    if (first_complete(incount, requests) < 0)
        if (Error error = wait_for_any(incount, requests, "MPI_Waitsome")) return error;
    return pick_up_some(incount, requests, outcount, indices, statuses);
}

Error lanyard_testsome(int incount, Request **requests, int *outcount, int *indices, Status *statuses) {
    *outcount = abi::undefined;
    if (!any_active(incount, requests)) return {};
    if (first_complete(incount, requests) < 0)
        if (Error error = make_progress(incount, requests)) return error;
    return pick_up_some(incount, requests, outcount, indices, statuses);
}

}  // extern "C"

}  // namespace lanyard
