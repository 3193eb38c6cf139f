// Turns the arguments of point-to-point calls into operations (p2p/operation.h). Shared by pt2pt.cc, probe.cc
// and sendrecv.cc. Any thread; the functions do not need the engine.
// Tested by: tests/mpi/pt2pt/modes.cc, tests/mpi/pt2pt/counts.cc.
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

inline void describe(SendOperation &operation, const Send &send) {
    static_cast<MatchKey &>(operation) = send.key();
    operation.buffer = send.buffer();
    operation.mode = send.mode;
    operation.destination = send.dest;
    operation.peer = send.peer();
}

inline void describe(ReceiveOperation &operation, const Receive &receive) {
    static_cast<MatchKey &>(operation) = receive.key();
    operation.buffer = receive.buffer();
    operation.peer = receive.peer();
}

inline void set_received(Status *status, int source, int tag, int64_t bytes) {
    if (!status) return;
    status->source = source;
    status->tag = tag;
    status->set_count(bytes);
    status->cancelled = 0;
}

inline void set_received(Status *status, const ReceiveOperation &receive) {
    set_received(status, receive.matched_rank, receive.matched_tag, receive.received);
}

// Stores the status of a receive or probe from MPI_PROC_NULL (MPI-5.0 3.10).
inline void set_proc_null(Status *status) { set_received(status, abi::proc_null, abi::any_tag, 0); }

// Completes a send to, or a receive from, MPI_PROC_NULL, for which there is nothing to do.
inline void complete_at_once(Request &request) {
    if (request.kind == Request::Kind::receive) {
        request.receive.matched_rank = abi::proc_null;
        request.receive.matched_tag = abi::any_tag;
        request.receive.received = 0;
    }
    request.completion().set_complete();
}

// Returns a request for a send or receive of elements of `datatype`. The request holds `comm` and `datatype`.
template <Request::Kind kind>
[[gnu::always_inline]] inline Request *new_p2p_request(Comm &comm, Datatype &datatype) {
    SpareRequests &spares = kind == Request::Kind::send ? spare_sends : spare_receives;
    Request *request = spares.take(comm.universe->engine);
    if (!request) [[unlikely]] request = &fresh_request(kind);
    hold_comm(*request, &comm);
    hold_datatype(*request, datatype);
    return request;
}
[[gnu::always_inline]] inline Request *new_send_request(Comm &comm, Datatype &datatype) {
    return new_p2p_request<Request::Kind::send>(comm, datatype);
}
[[gnu::always_inline]] inline Request *new_receive_request(Comm &comm, Datatype &datatype) {
    return new_p2p_request<Request::Kind::receive>(comm, datatype);
}

}  // namespace lanyard
