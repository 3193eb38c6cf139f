// Defines the typed functions (types.h) that send and receive in one call, or with one request (MPI-5.0
// sections 3.2.7 and 3.7.2). Any thread.
// Tested by: tests/mpi/pt2pt/sendrecv.cc.
#include <string>
#include <utility>

#include "api/bsend.h"
#include "api/generated/core.h"
#include "api/transfers.h"
#include "base/no_memory.h"
#include "runtime/runtime.h"
#include "runtime/waiting.h"

namespace lanyard {

namespace {

// Sends and receives at the same time, so that a cycle of ranks that all call MPI_Sendrecv cannot
// deadlock.
Error exchange(const Send &send, const Receive &receive, Status *status) {
    Messenger &messenger = send.comm.universe->messenger;
    Engine &engine = messenger.engine();
    SendOperation out;
    ReceiveOperation in;
    describe(out, send);
    describe(in, receive);
    EngineGuard guard(engine);
    Waiter waiter;
    bool receives = !receive.from_nobody(), sends = !send.to_nobody();
    waiter.remaining.store(0, std::memory_order_relaxed);
    if (receives) {
        in.in_call = true;
        messenger.receive(in);
        waiter.remaining.fetch_add(1);
        if (!in.completion.await(waiter)) waiter.remaining.fetch_sub(1);
    }
    if (sends) {
        out.in_call = true;
        if (messenger.may_claim(out.peer, out.buffer)) engine.make_turn();
        messenger.send(out);
        waiter.remaining.fetch_add(1);
        if (!out.completion.await(waiter)) waiter.remaining.fetch_sub(1);
    }
    if (!waiter.done() && !met_soon(*runtime(), waiter)) {
        Waiting waiting("MPI_Sendrecv", receives ? tool::WaitFor::message : tool::WaitFor::receiver,
                        &send.comm, receives ? receive.source : send.dest, receives ? receive.tag : send.tag);
        engine.wait_owned(waiter);
    }
    if (receives) set_received(status, in);
    else set_proc_null(status);
    if (!in.error) return out.error;
    if (out.error) messenger.unasked(out, true);
    return in.error;
}

// Makes a packed copy of a buffer that a receive is about to overwrite.
Error pack_copy(const Buffer &buffer, FallibleArray<std::byte> &copy) {
    auto bytes = static_cast<size_t>(buffer.bytes());
    copy = array_or_null<std::byte>(bytes);
    if (!copy)
        return Error(ErrorClass::no_mem, "there is no memory left for a copy of the " +
                                             std::to_string(bytes) +
                                             " bytes to send; use two buffers, with MPI_Sendrecv");
    Cursor(buffer).pack(copy.get(), bytes);
    return {};
}

// The state of an MPI_Isendrecv or MPI_Isendrecv_replace that is under way.
struct Exchange {
    SendOperation out;
    ReceiveOperation in;
    // MPI_Isendrecv_replace: a copy of the buffer, which the receive overwrites
    FallibleArray<std::byte> copy;
    Datatype *types[2];  // referenced until the request ends
    Request *request = nullptr;
    int open = 0;
};

void half_done(Completion &completion) {
    auto *exchange = static_cast<Exchange *>(completion.context);
    if (--exchange->open > 0) return;
    Request &request = *exchange->request;
    if (exchange->in.rank == abi::proc_null) set_proc_null(&request.other.status);
    else set_received(&request.other.status, exchange->in);
    request.operation.error = exchange->in.error ? exchange->in.error : exchange->out.error;
    if (exchange->in.error && exchange->out.error)
        request.comm->universe->messenger.unasked(exchange->out, true);
    request.completion().finish();
}

void end_exchange(Request &request) {
    auto *exchange = static_cast<Exchange *>(request.state);
    for (Datatype *type : exchange->types) release(*type);
    delete exchange;
}

constexpr RequestActions exchange_actions{.release = end_exchange};

Request *start(const Send &send, const Receive &receive, FallibleArray<std::byte> copy) {
    auto *exchange = new Exchange;
    Request *made = new_request(&send.comm);
    made->other.name = "MPI_Isendrecv";
    made->state = exchange;
    made->actions = &exchange_actions;
    exchange->request = made;
    exchange->copy = std::move(copy);
    exchange->types[0] = &send.datatype;
    exchange->types[1] = &receive.datatype;
    for (Datatype *type : exchange->types) type->hold();
    describe(exchange->out, send);
    describe(exchange->in, receive);
    for (MessageOperation *half :
         {static_cast<MessageOperation *>(&exchange->out), static_cast<MessageOperation *>(&exchange->in)}) {
        half->completion.then = half_done;
        half->completion.context = exchange;
    }
    Messenger &messenger = send.comm.universe->messenger;
    EngineGuard guard(messenger.engine());
    exchange->open = 3;  // the send, the receive and this function. half_done() below subtracts this
                         // function's part, so the request cannot complete before both are started.
    if (receive.from_nobody()) --exchange->open;
    else messenger.receive(exchange->in);
    if (send.to_nobody()) --exchange->open;
    else messenger.send(exchange->out);
    half_done(exchange->out.completion);
    return made;
}

}  // namespace

extern "C" {

Error lanyard_sendrecv(const void *sendbuf, int64_t sendcount, Datatype &sendtype, int dest, int sendtag,
                       void *recvbuf, int64_t recvcount, Datatype &recvtype, int source, int recvtag,
                       Comm &comm, Status *status) {
    return exchange({sendbuf, sendcount, sendtype, dest, sendtag, comm},
                    {recvbuf, recvcount, recvtype, source, recvtag, comm}, status);
}
Error lanyard_sendrecv_replace(void *buf, int64_t count, Datatype &datatype, int dest, int sendtag,
                               int source, int recvtag, Comm &comm, Status *status) {
    Receive receive{buf, count, datatype, source, recvtag, comm};
    FallibleArray<std::byte> copy;
    if (Error error = pack_copy(receive.buffer(), copy)) return error;
    return exchange({copy.get(), receive.buffer().bytes(), packed_datatype(), dest, sendtag, comm}, receive,
                    status);
}

Error lanyard_isendrecv(const void *sendbuf, int64_t sendcount, Datatype &sendtype, int dest, int sendtag,
                        void *recvbuf, int64_t recvcount, Datatype &recvtype, int source, int recvtag,
                        Comm &comm, Request **request) {
    *request = start({sendbuf, sendcount, sendtype, dest, sendtag, comm},
                     {recvbuf, recvcount, recvtype, source, recvtag, comm}, {});
    return {};
}

Error lanyard_isendrecv_replace(void *buf, int64_t count, Datatype &datatype, int dest, int sendtag,
                                int source, int recvtag, Comm &comm, Request **request) {
    Receive receive{buf, count, datatype, source, recvtag, comm};
    FallibleArray<std::byte> copy;
    if (Error error = pack_copy(receive.buffer(), copy)) return error;
    Send send{copy.get(), receive.buffer().bytes(), packed_datatype(), dest, sendtag, comm};
    *request = start(send, receive, std::move(copy));
    return {};
}

}  // extern "C"

}  // namespace lanyard
