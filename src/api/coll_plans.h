// Collective operations (MPI-5.0 chapter 6) between the program's arguments and the planning functions of coll/: each
// function here checks what only it can check and gives a Plan; coll.cc runs it, icoll.cc starts it or keeps it for starting.
#pragma once

#include "api/coll_checks.h"
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

}  // namespace lanyard::plans
