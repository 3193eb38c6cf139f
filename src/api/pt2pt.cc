// Defines the typed functions (types.h) of point-to-point communication (MPI-5.0 chapter 3). A message that
// can be sent or received at once needs no operation (Messenger::send_or_deliver_now and receive_now). Every
// other call fills in an operation, which lies on the stack of a blocking call or in a request. Any thread.
// Tested by: tests/mpi/pt2pt/modes.cc, tests/mpi/pt2pt/counts.cc.
#include "api/bsend.h"
#include "api/generated/core.h"
#include "api/transfers.h"
#include "runtime/runtime.h"
#include "runtime/waiting.h"

namespace lanyard {

namespace {

// A blocking receive looks this many times for its message before it posts a receive; this takes a fraction
// of a microsecond. It looks only once if ranks outnumber processors or a profile is made.
constexpr int looks_at_once = 100;

// Waits for a send that is not complete. If the receiver is late, the library keeps a copy of a long message.
void wait_for_receiver(Messenger &messenger, SendOperation &operation) {
    Engine &engine = messenger.engine();
    Retention &retention = messenger.retention();
    Condition over{[](const void *send) { return static_cast<const Completion *>(send)->complete(); },
                   &operation.completion};
    for (uint64_t patience_ns = retention.patience_ns(operation); patience_ns > 0; patience_ns *= 2) {
        if (engine.wait_owned(over, engine.read_now_ns() + patience_ns)) return;
        Retention::Result result = retention.keep(operation);
        if (result == Retention::Result::kept) return;
        if (result == Retention::Result::never) break;
    }
    engine.wait_owned(operation.completion);
}

// The functions that need an operation take `send` or `receive` by value. Calls that need no operation can
// then keep these arguments in registers.
[[gnu::noinline]] Error send_and_wait(Messenger &messenger, Send send, const char *call) {
    SendOperation operation;
    describe(operation, send);
    operation.in_call = true;
    if (messenger.may_claim(operation.peer, operation.buffer)) messenger.engine().make_turn();
    messenger.send(operation);
    if (!operation.completion.complete()) {
        Waiting waiting(call, tool::WaitFor::receiver, &send.comm, send.dest, send.tag);
        Messenger::HeldClaims held(messenger);
        wait_for_receiver(messenger, operation);
    }
    return operation.error;
}

[[gnu::noinline]] Error receive_and_wait(Messenger &messenger, Receive receive, Status *status) {
    ReceiveOperation operation;
    describe(operation, receive);
    operation.in_call = true;
    messenger.receive(operation);
    if (!operation.completion.complete() && !met_soon(*runtime(), operation.completion)) {
        Waiting waiting("MPI_Recv", tool::WaitFor::message, &receive.comm, receive.source, receive.tag);
        messenger.engine().wait_owned(operation.completion);
    }
    set_received(status, operation);
    return operation.error;
}

// Tries to send the message at once, or to deliver it if the receiver is this process. True if nothing
// remains to be done.
[[gnu::always_inline]] inline bool send_at_once(Messenger &messenger, const Send &send) {
    if (send.mode == SendMode::synchronous) return false;
    return messenger.send_or_deliver_now(send.peer(), send.key(), send.buffer());
}

[[gnu::always_inline]] inline Error block_send(const Send &send, const char *call) {
    if (send.to_nobody()) return {};
    Messenger &messenger = send.comm.universe->messenger;
    Engine &engine = messenger.engine();
    EngineGuard guard(engine);
    if (send_at_once(messenger, send)) return {};
    return send_and_wait(messenger, send, call);
}

[[gnu::noinline]] Request *send_in_request(Messenger &messenger, Send send) {
    Request *made = new_send_request(send.comm, send.datatype);
    describe(made->send, send);
    messenger.send(made->send);
    return made;
}

[[gnu::always_inline]] inline bool needs_no_request(Messenger &messenger, const Send &send) {
    return !messenger.keeps(send.peer(), send.buffer()) && send_at_once(messenger, send);
}

// Sends a message that may be batched with those that follow.
[[gnu::noinline]] Request *send_in_series(Messenger &messenger, const Send &send) {
    Engine &engine = messenger.engine();
    engine.batching().begin();
    if (needs_no_request(messenger, send)) return batched_send;
    engine.batching().end();
    return send_in_request(messenger, send);
}

[[gnu::always_inline]] inline Error start_send(const Send &send, Request **request) {
    *request = completed_send;
    if (send.to_nobody()) return {};
    Messenger &messenger = send.comm.universe->messenger;
    EngineGuard guard(messenger.engine());
    if (messenger.engine().batching().possible()) [[unlikely]] *request = send_in_series(messenger, send);
    else if (!needs_no_request(messenger, send)) *request = send_in_request(messenger, send);
    return {};
}

Error start_receive(const Receive &receive, Request **request) {
    Messenger &messenger = receive.comm.universe->messenger;
    EngineGuard guard(messenger.engine());
    Request *made = new_receive_request(receive.comm, receive.datatype);
    ReceiveOperation &operation = made->receive;
    describe(operation, receive);
    *request = made;
    Envelope taken;
    if (!receive.from_nobody() &&
        messenger.receive_now(receive.peer(), receive.key(), receive.buffer(), 1, taken)) {
        operation.matched_rank = taken.source;
        operation.matched_tag = taken.tag;
        operation.received = static_cast<int64_t>(taken.length);
        operation.completion.set_complete();
    } else if (receive.from_nobody()) {
        complete_at_once(*made);
    } else {
        messenger.receive(operation);
    }
    return {};
}

Error start_send_again(Request &request) {
    if (request.send.destination == abi::proc_null) complete_at_once(request);
    else request.comm->universe->messenger.send(request.send);
    return {};
}

Error start_receive_again(Request &request) {
    if (request.receive.rank == abi::proc_null) complete_at_once(request);
    else request.comm->universe->messenger.receive(request.receive);
    return {};
}

Error start_buffered_again(Request &request) {
    const SendOperation &send = request.send;
    request.completion().set_complete();
    if (send.destination == abi::proc_null) return {};
    return send_buffered(*request.comm, send.peer, send, send.buffer);
}

constexpr RequestActions persistent_send{.start = start_send_again},
    persistent_receive{.start = start_receive_again}, persistent_buffered_send{.start = start_buffered_again};

// Makes this a persistent request. Its memory is not reused through SpareRequests when it ends.
void make_persistent(Request &request) {
    request.persistent = true;
    request.active = false;
    request.spares = nullptr;
}

Error make_persistent_send(const Send &send, Request **request) {
    Request *made = new_send_request(send.comm, send.datatype);
    describe(made->send, send);
    make_persistent(*made);
    made->actions = &persistent_send;
    *request = made;
    return {};
}

Error buffered(const Send &send) {
    if (send.to_nobody()) return {};
    EngineGuard guard(send.comm.universe->engine);
    return send_buffered(send.comm, send.peer(), send.key(), send.buffer());
}

}  // namespace

extern "C" {

Error lanyard_send(const void *buf, int64_t count, Datatype &datatype, int dest, int tag, Comm &comm) {
    return block_send({buf, count, datatype, dest, tag, comm}, "MPI_Send");
}
Error lanyard_ssend(const void *buf, int64_t count, Datatype &datatype, int dest, int tag, Comm &comm) {
    return block_send({buf, count, datatype, dest, tag, comm, SendMode::synchronous}, "MPI_Ssend");
}
Error lanyard_rsend(const void *buf, int64_t count, Datatype &datatype, int dest, int tag, Comm &comm) {
    return block_send({buf, count, datatype, dest, tag, comm, SendMode::ready}, "MPI_Rsend");
}
Error lanyard_bsend(const void *buf, int64_t count, Datatype &datatype, int dest, int tag, Comm &comm) {
    return buffered({buf, count, datatype, dest, tag, comm});
}

Error lanyard_isend(const void *buf, int64_t count, Datatype &datatype, int dest, int tag, Comm &comm,
                    Request **request) {
    return start_send({buf, count, datatype, dest, tag, comm}, request);
}
Error lanyard_issend(const void *buf, int64_t count, Datatype &datatype, int dest, int tag, Comm &comm,
                     Request **request) {
    return start_send({buf, count, datatype, dest, tag, comm, SendMode::synchronous}, request);
}
Error lanyard_irsend(const void *buf, int64_t count, Datatype &datatype, int dest, int tag, Comm &comm,
                     Request **request) {
    return start_send({buf, count, datatype, dest, tag, comm, SendMode::ready}, request);
}
Error lanyard_ibsend(const void *buf, int64_t count, Datatype &datatype, int dest, int tag, Comm &comm,
                     Request **request) {
    *request = completed_send;
    return buffered({buf, count, datatype, dest, tag, comm});
}

Error lanyard_send_init(const void *buf, int64_t count, Datatype &datatype, int dest, int tag, Comm &comm,
                        Request **request) {
    return make_persistent_send({buf, count, datatype, dest, tag, comm}, request);
}
Error lanyard_ssend_init(const void *buf, int64_t count, Datatype &datatype, int dest, int tag, Comm &comm,
                         Request **request) {
    return make_persistent_send({buf, count, datatype, dest, tag, comm, SendMode::synchronous}, request);
}
Error lanyard_rsend_init(const void *buf, int64_t count, Datatype &datatype, int dest, int tag, Comm &comm,
                         Request **request) {
    return make_persistent_send({buf, count, datatype, dest, tag, comm, SendMode::ready}, request);
}
Error lanyard_bsend_init(const void *buf, int64_t count, Datatype &datatype, int dest, int tag, Comm &comm,
                         Request **request) {
    Error error = make_persistent_send({buf, count, datatype, dest, tag, comm}, request);
    (*request)->actions = &persistent_buffered_send;
    return error;
}
Error lanyard_recv_init(void *buf, int64_t count, Datatype &datatype, int source, int tag, Comm &comm,
                        Request **request) {
    Request *made = new_receive_request(comm, datatype);
    describe(made->receive, Receive{buf, count, datatype, source, tag, comm});
    make_persistent(*made);
    made->actions = &persistent_receive;
    *request = made;
    return {};
}

Error lanyard_recv(void *buf, int64_t count, Datatype &datatype, int source, int tag, Comm &comm,
                   Status *status) {
    if (source == abi::proc_null) {
        set_proc_null(status);
        return {};
    }
    Receive receive{buf, count, datatype, source, tag, comm};
    Messenger &messenger = comm.universe->messenger;
    EngineGuard guard(messenger.engine());
    Envelope taken;
    int looks = messenger.engine().oversubscribed() || runtime()->profile ? 1 : looks_at_once;
    if (messenger.receive_now(receive.peer(), receive.key(), receive.buffer(), looks, taken)) {
        set_received(status, taken.source, taken.tag, static_cast<int64_t>(taken.length));
        messenger.engine().glance();
        return {};
    }
    return receive_and_wait(messenger, receive, status);
}
Error lanyard_irecv(void *buf, int64_t count, Datatype &datatype, int source, int tag, Comm &comm,
                    Request **request) {
    return start_receive({buf, count, datatype, source, tag, comm}, request);
}

}  // extern "C"

}  // namespace lanyard
