// How the arguments of point-to-point calls become transfers: shared by pt2pt.cc, probe.cc, sendrecv.cc and bsend.cc.
#pragma once

#include "api/request.h"
#include "api/spare_requests.h"
#include "comm/comm.h"
#include "comm/universe.h"
#include "datatype/cursor.h"
#include "datatype/datatype.h"
#include "p2p/messenger.h"

namespace lanyard {

struct Send {
    const void *buf;
    int64_t count;
    Datatype &datatype;
    int dest;
    int tag;
    Comm &comm;
    SendMode mode = SendMode::standard;

    bool to_nobody() const { return dest == abi::proc_null; }
    uint32_t peer() const { return to_nobody() ? no_peer : comm.peers[dest]; }
    MatchKey key() const { return {comm.context, comm.rank, tag}; }
    Buffer buffer() const { return {static_cast<std::byte *>(const_cast<void *>(buf)), count, &datatype}; }
};

struct Receive {
    void *buf;
    int64_t count;
    Datatype &datatype;
    int source;
    int tag;
    Comm &comm;

    bool from_nobody() const { return source == abi::proc_null; }
    uint32_t peer() const { return source >= 0 ? comm.peers[source] : no_peer; }
    MatchKey key() const { return {comm.context, source, tag}; }
    Buffer buffer() const { return {static_cast<std::byte *>(buf), count, &datatype}; }
};

inline void describe(Transfer &transfer, const Send &send) {
    static_cast<MatchKey &>(transfer) = send.key();
    transfer.buffer = send.buffer();
    transfer.mode = send.mode;
    transfer.destination = send.dest;
    transfer.peer = send.peer();
}

inline void describe(Transfer &transfer, const Receive &receive) {
    static_cast<MatchKey &>(transfer) = receive.key();
    transfer.buffer = receive.buffer();
    transfer.peer = receive.peer();
}

inline void set_received(Status *status, int source, int tag, int64_t bytes) {
    if (!status) return;
    status->source = source;
    status->tag = tag;
    status->set_count(bytes);
    status->cancelled = 0;
}

inline void set_received(Status *status, const Transfer &transfer) {
    set_received(status, transfer.matched_rank, transfer.matched_tag, transfer.received);
}

// What a receive or probe from MPI_PROC_NULL gives (MPI-5.0 3.10).
inline void set_proc_null(Status *status) { set_received(status, abi::proc_null, abi::any_tag, 0); }

// A send or receive with MPI_PROC_NULL is complete from the start.
inline void complete_at_once(Request &request) {
    request.transfer.matched_rank = abi::proc_null;
    request.transfer.matched_tag = abi::any_tag;
    request.transfer.received = 0;
    request.completion().set_complete();
}

// A request for a send or receive of elements of `datatype`.
[[gnu::always_inline]] inline Request *new_transfer_request(Request::Kind kind, Comm &comm, Datatype &datatype) {
    Request *request = spare_requests.take(comm.universe->engine);
    if (!request) [[unlikely]] request = &fresh_request();
    request->kind = kind;
    hold_comm(*request, &comm);
    hold_datatype(*request, datatype);
    return request;
}

}  // namespace lanyard
