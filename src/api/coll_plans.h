// Prepares the arguments of collective operations (MPI-5.0 chapter 6) for the planning functions of src/coll:
// turns them into the types from which a Plan is made. coll.cc runs the Plan to its end, icoll.cc only starts
// it, and coll_init.cc keeps it for later starts.
// Tested by: tests/mpi/coll/forms.cc, tests/mpi/coll/again.cc.
#pragma once

#include "api/coll_checks.h"
#include "coll/collectives.h"
#include "comm/comm.h"
#include "comm/universe.h"

namespace lanyard::plans {

inline std::byte *bytes_at(const void *address) {
    return static_cast<std::byte *>(const_cast<void *>(address));
}

inline Buffer buffer_of(const void *address, int64_t count, const Datatype *type) {
    return {bytes_at(address), count, type};
}

// Returns the buffer of a side that may be MPI_IN_PLACE; an empty Buffer if it is.
inline Buffer own_buffer(const void *address, int64_t count, const Datatype *type) {
    return in_place(address) ? Buffer{} : buffer_of(address, count, type);
}

inline Numbers numbers(const Counts &counts) { return {counts.data, counts.width}; }

inline Uneven uneven(const void *address, const Counts &counts, const Counts &displacements,
                     const Datatype *type) {
    return in_place(address) ? Uneven{}
                             : Uneven{bytes_at(address), numbers(counts), numbers(displacements), type};
}

inline Typed typed(const void *address, const Counts &counts, const Counts &displacements,
                   Datatype *const *types) {
    return in_place(address) ? Typed{}
                             : Typed{bytes_at(address), numbers(counts), numbers(displacements), types};
}

inline Reduction reduction(const void *sendbuf, void *recvbuf, int64_t count, const Datatype &type,
                           const Op &op) {
    bool here = in_place(sendbuf);
    return {here ? nullptr : bytes_at(sendbuf), bytes_at(recvbuf), count, &type, &op, here};
}

}  // namespace lanyard::plans
