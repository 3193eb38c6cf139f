// Collective operations (MPI-5.0 chapter 6) between the program's arguments and the planning functions of coll/: each
// function here checks what only it can check and gives a Plan; coll.cc runs it, icoll.cc starts it or keeps it for starting.
#pragma once

#include <algorithm>

#include "api/types.h"
#include "coll/collectives.h"
#include "comm/comm.h"
#include "comm/universe.h"

namespace lanyard::plans {

inline std::byte *bytes_at(const void *address) { return static_cast<std::byte *>(const_cast<void *>(address)); }

inline Buffer buffer_of(const void *address, int64_t count, const Datatype *type) { return {bytes_at(address), count, type}; }

// The sending side, which may be MPI_IN_PLACE.
inline Buffer own_buffer(const void *address, int64_t count, const Datatype *type) {
    return in_place(address) ? Buffer{} : buffer_of(address, count, type);
}

inline Numbers numbers(const Counts &counts) { return {counts.data, counts.width}; }

inline Uneven uneven(const void *address, const Counts &counts, const Counts &displacements, const Datatype *type) {
    return in_place(address) ? Uneven{} : Uneven{bytes_at(address), numbers(counts), numbers(displacements), type};
}

inline Typed typed(const void *address, const Counts &counts, const Counts &displacements, Datatype *const *types) {
    return in_place(address) ? Typed{} : Typed{bytes_at(address), numbers(counts), numbers(displacements), types};
}

inline Reduction reduction(const void *sendbuf, void *recvbuf, int64_t count, const Datatype &type, const Op &op) {
    bool here = in_place(sendbuf);
    return {here ? nullptr : bytes_at(sendbuf), bytes_at(recvbuf), count, &type, &op, here};
}

// What every collective asks first.
inline Error check_comm(const Comm &comm) {
    if (!comm.remote_group) return {};
    return Error(ErrorClass::unsupported_operation,
                 "collective operations on an intercommunicator are not implemented in Lanyard " LANYARD_VERSION);
}

// A reduction also: the operation on this datatype, and two buffers that are not one. `significant`: the result matters here.
inline Error check_reduction(const Comm &comm, const void *sendbuf, const void *recvbuf, int64_t count, const Datatype &type,
                             const Op &op, bool significant = true) {
    if (Error error = check_comm(comm)) return error;
    if (Error error = check_op(op, type)) return error;
    if (!significant && in_place(sendbuf))
        return Error(ErrorClass::buffer, "sendbuf is MPI_IN_PLACE, which only the root may give here");
    if (significant && sendbuf == recvbuf && sendbuf && count > 0 && type.size > 0)
        return Error(ErrorClass::buffer, "sendbuf and recvbuf are the same memory; give MPI_IN_PLACE as sendbuf instead");
    return {};
}

}  // namespace lanyard::plans
