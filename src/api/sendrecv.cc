// Nonblocking sendrecv (MPI-5.0 section 3.10): a send and a receive that are one request.
#include <memory>

#include "api/bsend.h"
#include "api/generated/core.h"
#include "api/request.h"
#include "datatype/cursor.h"
#include "comm/universe.h"

namespace lanyard {

namespace {

struct Exchange {
    Transfer out, in;
    std::unique_ptr<std::byte[]> copy;  // of what is received over
    Request *request = nullptr;
    int open = 0;
};

void half_done(Completion &completion) {
    auto *exchange = static_cast<Exchange *>(completion.context);
    if (--exchange->open > 0) return;
    Request &request = *exchange->request;
    if (exchange->in.peer != no_peer || exchange->in.rank == abi::any_source) {
        request.status.source = exchange->in.matched_rank;
        request.status.tag = exchange->in.matched_tag;
        request.status.set_count(exchange->in.received);
    } else {
        request.status.source = abi::proc_null;
    }
    request.transfer.error = exchange->in.error ? exchange->in.error : exchange->out.error;
    if (exchange->in.error) exchange->out.error.discard();
    request.completion().finish();
}

void end_exchange(Request &request) { delete static_cast<Exchange *>(request.state); }

Error start(const Buffer &out, int dest, int sendtag, const Buffer &in, int source, int recvtag, Comm &comm, std::unique_ptr<std::byte[]> copy,
            Request **request) {
    auto *exchange = new Exchange;
    exchange->copy = std::move(copy);
    Request *made = new_request(Request::Kind::other, &comm);
    made->state = exchange;
    made->release = end_exchange;
    exchange->request = made;
    for (Transfer *half : {&exchange->out, &exchange->in}) {
        half->context = comm.context;
        half->completion.then = half_done;
        half->completion.context = exchange;
    }
    exchange->out.buffer = out;
    exchange->out.rank = comm.rank;
    exchange->out.tag = sendtag;
    exchange->in.buffer = in;
    exchange->in.rank = source;
    exchange->in.tag = recvtag;
    *request = made;

    Messenger &messenger = comm.universe->messenger;
    EngineGuard guard(messenger.engine());
    exchange->open = 3;  // the third is released below, so that nothing completes before both are started
    if (source == abi::proc_null) {
        --exchange->open;
    } else {
        if (source >= 0) exchange->in.peer = comm.peers[source];
        messenger.receive(exchange->in);
    }
    if (dest == abi::proc_null) {
        --exchange->open;
    } else {
        exchange->out.peer = comm.peers[dest];
        messenger.send(exchange->out);
    }
    half_done(exchange->out.completion);
    return {};
}

Buffer buffer_of(const void *address, int64_t count, const Datatype &datatype) {
    return {static_cast<std::byte *>(const_cast<void *>(address)), count, &datatype};
}

}  // namespace

extern "C" {

Error lanyard_isendrecv(const void *sendbuf, int64_t sendcount, Datatype &sendtype, int dest, int sendtag, void *recvbuf, int64_t recvcount,
                        Datatype &recvtype, int source, int recvtag, Comm &comm, Request **request) {
    return start(buffer_of(sendbuf, sendcount, sendtype), dest, sendtag,
                 buffer_of(recvbuf, recvcount, recvtype), source, recvtag, comm, nullptr, request);
}

Error lanyard_isendrecv_replace(void *buf, int64_t count, Datatype &datatype, int dest, int sendtag, int source, int recvtag, Comm &comm,
                                Request **request) {
    Buffer buffer = buffer_of(buf, count, datatype);
    int64_t bytes = buffer.bytes();
    auto copy = std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(bytes) + 1);
    Cursor(buffer).pack(copy.get(), static_cast<size_t>(bytes));
    Buffer packed{copy.get(), bytes, &packed_datatype()};
    return start(packed, dest, sendtag, buffer, source, recvtag, comm, std::move(copy), request);
}

}  // extern "C"

}  // namespace lanyard
