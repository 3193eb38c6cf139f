// See coll_request.h.
#include "api/coll_request.h"

#include <memory>

namespace lanyard {

namespace {

// The object that this thread released last. The thread's next request reuses it, because an allocation
// takes a large part of the time of a short operation.
thread_local std::unique_ptr<HeldByCollective> spare;

HeldByCollective &held_by(Request &request) { return *static_cast<HeldByCollective *>(request.state); }

void hold(HeldByCollective &held, Datatype *type) {
    if (!type || type->predefined()) return;
    type->hold();
    held.datatypes.push_back(type);
}

void hold_all(HeldByCollective &held, Datatype *const *list, int length) {
    for (int i = 0; i < length; ++i) hold(held, list[i]);
}

// Called when the request ends. At that time only a persistent request still has a collective. A persistent
// request ends in MPI_Request_free or, if its operation is under way then, when the operation is complete. In
// both cases the caller owns the engine, as give_back() requires.
void release_held(Request &request) {
    HeldByCollective *held = &held_by(request);
    if (held->collective) request.comm->universe->executor->give_back(held->collective);
    for (Datatype *type : held->datatypes) release(*type);
    if (held->op) release(*held->op);
    *held = {};
    spare.reset(held);
}

void look_for_posts(Request &request) {
    if (Collective *collective = held_by(request).collective)
        request.comm->universe->executor->look_for_posts(*collective);
}

void collective_done(Completion &completion) {
    Request &request = *static_cast<Request *>(completion.context);
    HeldByCollective &held = held_by(request);
    request.operation.error = held.collective->error;
    held.collective->error = {};
    if (!request.persistent) {
        request.comm->universe->executor->give_back(held.collective);
        held.collective = nullptr;
    }
    request.completion().finish();
}

// Arranges that the request completes when its collective completes. The collective has been
// started and may be complete already.
void follow(Request &request) {
    Collective &collective = *held_by(request).collective;
    collective.completion.context = &request;
    request.other.name = collective.plan.name();
    request.number = collective.number();
    if (collective.completion.complete()) collective_done(collective.completion);
    else collective.completion.then = collective_done;
}

Error start_again(Request &request) {
    Collective &collective = *held_by(request).collective;
    collective.completion.then = nullptr;
    request.comm->universe->executor->start(collective, request.comm->team);
    follow(request);
    return {};
}

constexpr RequestActions collective_actions{
    .release = release_held, .start = start_again, .hurry = look_for_posts};

}  // namespace

Request *new_collective_request(Comm &comm, const Uses &uses, Collective &collective, bool persistent) {
    Request *request = new_request(&comm);
    HeldByCollective *held = spare ? spare.release() : new HeldByCollective;
    request->state = held;
    request->actions = &collective_actions;
    request->persistent = persistent;
    request->active = !persistent;
    held->collective = &collective;
    for (Datatype *type : uses.datatypes) hold(*held, type);
    if (uses.list) hold_all(*held, uses.list, uses.list_length < 0 ? comm.size : uses.list_length);
    if (uses.second_list)
        hold_all(*held, uses.second_list, uses.second_length < 0 ? comm.size : uses.second_length);
    if (uses.op && !uses.op->predefined()) {
        uses.op->hold();
        held->op = uses.op;
    }
    if (!persistent) follow(*request);
    return request;
}

}  // namespace lanyard
