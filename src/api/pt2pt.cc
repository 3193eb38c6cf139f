// Point-to-point communication (MPI-5.0 chapter 3): the typed functions. Short blocking sends leave by Messenger::send_now
// without a request; everything else describes a Transfer, on the stack of a blocking call or in a request.
#include <algorithm>
#include <cstring>
#include <memory>

#include "api/bsend.h"
#include "api/generated/core.h"
#include "api/message.h"
#include "api/request.h"
#include "api/runtime.h"
#include "comm/comm.h"
#include "datatype/cursor.h"
#include "datatype/datatype.h"

namespace lanyard {

namespace {

struct Send {
    const void *buf;
    int64_t count;
    Datatype &datatype;
    int dest;
    int tag;
    Comm &comm;
    SendMode mode = SendMode::standard;
};

struct Receive {
    void *buf;
    int64_t count;
    Datatype &datatype;
    int source;
    int tag;
    Comm &comm;
};

Buffer buffer_of(const void *address, int64_t count, const Datatype &datatype) {
    return {static_cast<std::byte *>(const_cast<void *>(address)), count, &datatype};
}

void describe(Transfer &transfer, const Send &send) {
    transfer.buffer = buffer_of(send.buf, send.count, send.datatype);
    transfer.context = send.comm.context;
    transfer.rank = send.comm.rank;
    transfer.tag = send.tag;
    transfer.mode = send.mode;
    transfer.destination = send.dest;
    transfer.peer = send.dest >= 0 ? send.comm.peers[send.dest] : no_peer;
}

void describe(Transfer &transfer, const Receive &receive) {
    transfer.buffer = buffer_of(receive.buf, receive.count, receive.datatype);
    transfer.context = receive.comm.context;
    transfer.rank = receive.source;
    transfer.tag = receive.tag;
    transfer.peer = receive.source >= 0 ? receive.comm.peers[receive.source] : no_peer;
}

void set_proc_null(Status *status) {
    if (!status) return;
    status->source = abi::proc_null;
    status->tag = abi::any_tag;
    status->set_count(0);
    status->cancelled = 0;
}

void set_received(Status *status, const Transfer &transfer) {
    if (!status) return;
    status->source = transfer.matched_rank;
    status->tag = transfer.matched_tag;
    status->set_count(transfer.received);
    status->cancelled = 0;
}

[[gnu::noinline]] Error send_and_wait(Messenger &messenger, const Send &send, const char *call) {
    Transfer transfer;
    describe(transfer, send);
    messenger.send(transfer);
    if (!transfer.completion.complete()) {
        Waiting waiting(call, &send.comm, send.dest, send.tag);
        messenger.engine().wait_owned(transfer.completion);
    }
    return transfer.error;
}

inline Error block_send(const Send &send, const char *call) {
    if (send.dest == abi::proc_null) return {};
    Messenger &messenger = send.comm.universe->messenger;
    Engine &engine = messenger.engine();
    EngineGuard guard(engine);
    uint32_t peer = send.comm.peers[send.dest];
    if (send.mode != SendMode::synchronous &&
        messenger.send_now(peer, {send.comm.context, send.comm.rank, send.tag}, buffer_of(send.buf, send.count, send.datatype)))
        return {};
    return send_and_wait(messenger, send, call);
}

// What a send or receive with MPI_PROC_NULL leads to.
void complete_at_once(Request &request) {
    request.transfer.matched_rank = abi::proc_null;
    request.transfer.matched_tag = abi::any_tag;
    request.transfer.received = 0;
    request.completion().set_complete();
}

Request *new_transfer_request(Request::Kind kind, Comm &comm, Datatype &datatype) {
    Request *request = new_request(kind, &comm);
    if (!datatype.predefined()) {
        request->datatype = &datatype;
        datatype.hold();
    }
    return request;
}

Error start_send(const Send &send, Request **request) {
    if (send.dest == abi::proc_null) {
        *request = completed_send();
        return {};
    }
    Messenger &messenger = send.comm.universe->messenger;
    EngineGuard guard(messenger.engine());
    uint32_t peer = send.comm.peers[send.dest];
    if (send.mode != SendMode::synchronous &&
        messenger.send_now(peer, {send.comm.context, send.comm.rank, send.tag}, buffer_of(send.buf, send.count, send.datatype))) {
        *request = completed_send();
        return {};
    }
    Request *made = new_transfer_request(Request::Kind::send, send.comm, send.datatype);
    describe(made->transfer, send);
    messenger.send(made->transfer);
    *request = made;
    return {};
}

Error start_receive(const Receive &receive, Request **request) {
    Request *made = new_transfer_request(Request::Kind::receive, receive.comm, receive.datatype);
    describe(made->transfer, receive);
    *request = made;
    if (receive.source == abi::proc_null) {
        complete_at_once(*made);
        return {};
    }
    Messenger &messenger = receive.comm.universe->messenger;
    EngineGuard guard(messenger.engine());
    messenger.receive(made->transfer);
    return {};
}

Error start_again(Request &request) {
    Messenger &messenger = request.comm->universe->messenger;
    bool send = request.kind == Request::Kind::send;
    if ((send ? request.transfer.destination : request.transfer.rank) == abi::proc_null) complete_at_once(request);
    else if (send) messenger.send(request.transfer);
    else messenger.receive(request.transfer);
    return {};
}

Error make_persistent_send(const Send &send, Request **request) {
    Request *made = new_transfer_request(Request::Kind::send, send.comm, send.datatype);
    describe(made->transfer, send);
    made->persistent = true;
    made->active = false;
    made->start = start_again;
    *request = made;
    return {};
}

Error buffered(const Send &send) {
    if (send.dest == abi::proc_null) return {};
    Messenger &messenger = send.comm.universe->messenger;
    EngineGuard guard(messenger.engine());
    return send_buffered(messenger, send.comm.peers[send.dest], {send.comm.context, send.comm.rank, send.tag},
                         buffer_of(send.buf, send.count, send.datatype));
}

Error start_buffered_again(Request &request) {
    Transfer &transfer = request.transfer;
    request.completion().set_complete();
    if (transfer.destination == abi::proc_null) return {};
    return send_buffered(request.comm->universe->messenger, transfer.peer, transfer, transfer.buffer);
}

// Both directions of a sendrecv at once, so that rings of them cannot lock up.
Error exchange(const Send &send, const Receive &receive, Status *status) {
    Messenger &messenger = send.comm.universe->messenger;
    Engine &engine = messenger.engine();
    Transfer out, in;
    describe(out, send);
    describe(in, receive);
    EngineGuard guard(engine);
    Waiter waiter;
    bool receives = receive.source != abi::proc_null, sends = send.dest != abi::proc_null;
    waiter.remaining.store(0, std::memory_order_relaxed);
    if (receives) {
        messenger.receive(in);
        waiter.remaining.fetch_add(1);
        if (!in.completion.await(waiter)) waiter.remaining.fetch_sub(1);
    }
    if (sends) {
        messenger.send(out);
        waiter.remaining.fetch_add(1);
        if (!out.completion.await(waiter)) waiter.remaining.fetch_sub(1);
    }
    if (!waiter.done()) {
        Waiting waiting("MPI_Sendrecv", &send.comm, receives ? receive.source : send.dest, receives ? receive.tag : send.tag);
        engine.wait_owned(waiter);
    }
    if (receives) set_received(status, in);
    else set_proc_null(status);
    if (in.error) {
        out.error.discard();
        return in.error;
    }
    return out.error;
}

// A packed copy of a buffer that is about to be received over.
std::unique_ptr<std::byte[]> packed_copy(const Buffer &buffer) {
    auto bytes = static_cast<size_t>(buffer.bytes());
    auto copy = std::make_unique_for_overwrite<std::byte[]>(std::max<size_t>(bytes, 1));
    Cursor(buffer).pack(copy.get(), bytes);
    return copy;
}

void set_probed(Status *status, const Unexpected &message) {
    if (!status) return;
    status->source = message.rank;
    status->tag = message.tag;
    status->set_count(static_cast<int64_t>(message.envelope.length));
    status->cancelled = 0;
}

struct Sought {
    Messenger &messenger;
    MatchKey key;
};

// The earliest stored message that fits; [engine owned] waits for one if asked to.
Unexpected *find_message(Comm &comm, int source, int tag, bool wait, const char *call) {
    Messenger &messenger = comm.universe->messenger;
    MatchKey key{comm.context, source, tag};
    Unexpected *message = messenger.probe(key);
    if (message) {
        messenger.engine().found_something();
        return message;
    }
    if (wait) {
        Sought sought{messenger, key};
        Waiting waiting(call, &comm, source, tag);
        messenger.engine().wait_owned(Condition{[](const void *subject) {
                                                    const auto *s = static_cast<const Sought *>(subject);
                                                    return s->messenger.probe(s->key) != nullptr;
                                                },
                                                &sought});
    } else {
        messenger.engine().step_for_test();
    }
    return messenger.probe(key);
}

Message *new_message(Comm &comm, Unexpected *stored) {
    Message *message = message_pool().create();
    LANYARD_MUST(message != nullptr);
    message->comm = &comm;
    comm.hold();
    message->stored = stored;
    return message;
}

void end_message(Message *&message) {
    if (message == &message_no_proc()) return;
    release_comm(message->comm);
    message_pool().destroy(message);
}

Error start_matched(void *buf, int64_t count, Datatype &datatype, Message *&message, Request **request) {
    bool nothing = message == &message_no_proc();
    Comm &comm = nothing ? *runtime()->universe->self : *message->comm;
    Receive receive{buf, count, datatype, nothing ? abi::proc_null : abi::any_source, abi::any_tag, comm};
    Request *made = new_transfer_request(Request::Kind::receive, comm, datatype);
    describe(made->transfer, receive);
    *request = made;
    if (nothing) {
        complete_at_once(*made);
    } else {
        EngineGuard guard(comm.universe->engine);
        comm.universe->messenger.receive_taken(made->transfer, *message->stored);
    }
    end_message(message);
    message = nullptr;
    return {};
}

}  // namespace

ObjectPool<Message> &message_pool() {
    static ObjectPool<Message> *pool = new ObjectPool<Message>;
    return *pool;
}

Message &message_no_proc() {
    static Message *message = [] {
        Message *made = message_pool().create();
        LANYARD_MUST(made != nullptr);
        made->abi_value = abi::message_no_proc;
        return made;
    }();
    return *message;
}

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

Error lanyard_isend(const void *buf, int64_t count, Datatype &datatype, int dest, int tag, Comm &comm, Request **request) {
    return start_send({buf, count, datatype, dest, tag, comm}, request);
}
Error lanyard_issend(const void *buf, int64_t count, Datatype &datatype, int dest, int tag, Comm &comm, Request **request) {
    return start_send({buf, count, datatype, dest, tag, comm, SendMode::synchronous}, request);
}
Error lanyard_irsend(const void *buf, int64_t count, Datatype &datatype, int dest, int tag, Comm &comm, Request **request) {
    return start_send({buf, count, datatype, dest, tag, comm, SendMode::ready}, request);
}
Error lanyard_ibsend(const void *buf, int64_t count, Datatype &datatype, int dest, int tag, Comm &comm, Request **request) {
    *request = completed_send();
    return buffered({buf, count, datatype, dest, tag, comm});
}

Error lanyard_send_init(const void *buf, int64_t count, Datatype &datatype, int dest, int tag, Comm &comm, Request **request) {
    return make_persistent_send({buf, count, datatype, dest, tag, comm}, request);
}
Error lanyard_ssend_init(const void *buf, int64_t count, Datatype &datatype, int dest, int tag, Comm &comm, Request **request) {
    return make_persistent_send({buf, count, datatype, dest, tag, comm, SendMode::synchronous}, request);
}
Error lanyard_rsend_init(const void *buf, int64_t count, Datatype &datatype, int dest, int tag, Comm &comm, Request **request) {
    return make_persistent_send({buf, count, datatype, dest, tag, comm, SendMode::ready}, request);
}
Error lanyard_bsend_init(const void *buf, int64_t count, Datatype &datatype, int dest, int tag, Comm &comm, Request **request) {
    Error error = make_persistent_send({buf, count, datatype, dest, tag, comm}, request);
    (*request)->start = start_buffered_again;
    return error;
}
Error lanyard_recv_init(void *buf, int64_t count, Datatype &datatype, int source, int tag, Comm &comm, Request **request) {
    Request *made = new_transfer_request(Request::Kind::receive, comm, datatype);
    describe(made->transfer, Receive{buf, count, datatype, source, tag, comm});
    made->persistent = true;
    made->active = false;
    made->start = start_again;
    *request = made;
    return {};
}

Error lanyard_recv(void *buf, int64_t count, Datatype &datatype, int source, int tag, Comm &comm, Status *status) {
    if (source == abi::proc_null) {
        set_proc_null(status);
        return {};
    }
    Messenger &messenger = comm.universe->messenger;
    Engine &engine = messenger.engine();
    Transfer transfer;
    describe(transfer, Receive{buf, count, datatype, source, tag, comm});
    EngineGuard guard(engine);
    messenger.receive(transfer);
    if (!transfer.completion.complete()) {
        Waiting waiting("MPI_Recv", &comm, source, tag);
        engine.wait_owned(transfer.completion);
    }
    set_received(status, transfer);
    return transfer.error;
}
Error lanyard_irecv(void *buf, int64_t count, Datatype &datatype, int source, int tag, Comm &comm, Request **request) {
    return start_receive({buf, count, datatype, source, tag, comm}, request);
}

Error lanyard_sendrecv(const void *sendbuf, int64_t sendcount, Datatype &sendtype, int dest, int sendtag, void *recvbuf, int64_t recvcount,
                       Datatype &recvtype, int source, int recvtag, Comm &comm, Status *status) {
    return exchange({sendbuf, sendcount, sendtype, dest, sendtag, comm}, {recvbuf, recvcount, recvtype, source, recvtag, comm}, status);
}
Error lanyard_sendrecv_replace(void *buf, int64_t count, Datatype &datatype, int dest, int sendtag, int source, int recvtag, Comm &comm,
                               Status *status) {
    Buffer buffer = buffer_of(buf, count, datatype);
    auto copy = packed_copy(buffer);
    Datatype &bytes = packed_datatype();
    return exchange({copy.get(), buffer.bytes(), bytes, dest, sendtag, comm}, {buf, count, datatype, source, recvtag, comm}, status);
}

Error lanyard_probe(int source, int tag, Comm &comm, Status *status) {
    if (source == abi::proc_null) {
        set_proc_null(status);
        return {};
    }
    EngineGuard guard(comm.universe->engine);
    set_probed(status, *find_message(comm, source, tag, true, "MPI_Probe"));
    return {};
}
Error lanyard_iprobe(int source, int tag, Comm &comm, int *flag, Status *status) {
    *flag = 1;
    if (source == abi::proc_null) {
        set_proc_null(status);
        return {};
    }
    EngineGuard guard(comm.universe->engine);
    Unexpected *message = find_message(comm, source, tag, false, "MPI_Iprobe");
    *flag = message != nullptr;
    if (message) set_probed(status, *message);
    return {};
}
Error lanyard_mprobe(int source, int tag, Comm &comm, Message **message, Status *status) {
    if (source == abi::proc_null) {
        *message = &message_no_proc();
        set_proc_null(status);
        return {};
    }
    EngineGuard guard(comm.universe->engine);
    Unexpected *stored = find_message(comm, source, tag, true, "MPI_Mprobe");
    set_probed(status, *stored);
    comm.universe->messenger.take(*stored);
    *message = new_message(comm, stored);
    return {};
}
Error lanyard_improbe(int source, int tag, Comm &comm, int *flag, Message **message, Status *status) {
    *flag = 1;
    *message = nullptr;
    if (source == abi::proc_null) {
        *message = &message_no_proc();
        set_proc_null(status);
        return {};
    }
    EngineGuard guard(comm.universe->engine);
    Unexpected *stored = find_message(comm, source, tag, false, "MPI_Improbe");
    *flag = stored != nullptr;
    if (!stored) return {};
    set_probed(status, *stored);
    comm.universe->messenger.take(*stored);
    *message = new_message(comm, stored);
    return {};
}
Error lanyard_imrecv(void *buf, int64_t count, Datatype &datatype, Message *&message, Request **request) {
    return start_matched(buf, count, datatype, message, request);
}
Error lanyard_mrecv(void *buf, int64_t count, Datatype &datatype, Message *&message, Status *status) {
    Request *request = nullptr;
    if (Error error = start_matched(buf, count, datatype, message, &request)) return error;
    return lanyard_wait(request, status);
}

}  // extern "C"

}  // namespace lanyard
