// Collective operations (MPI-5.0 chapter 6) between the program's arguments and the planning functions of coll/: each
// function here checks what only it can check and gives a Plan; coll.cc runs it, icoll.cc starts it or keeps it for starting.
#pragma once

#include <algorithm>
#include <string>

#include "api/check.h"
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

[[gnu::cold]] inline Error in_place_beside_root() {
    return Error(ErrorClass::buffer, "sendbuf is MPI_IN_PLACE, which only the root may give here");
}
[[gnu::cold]] inline Error same_buffers() {
    return Error(ErrorClass::buffer, "sendbuf and recvbuf are the same memory; give MPI_IN_PLACE as sendbuf instead");
}
[[gnu::cold]] inline Error scan_between_groups() {
    return Error(ErrorClass::comm, "the communicator is an intercommunicator, on which there is no scan");
}

// The operation on this datatype, and two buffers that are not one. `gives`, `gets`: which of them matter here; neither beside the
// root of an intercommunicator, where nothing else is looked at.
inline Error check_buffers(const void *sendbuf, const void *recvbuf, int64_t count, const Datatype &type, const Op &op, bool gives, bool gets) {
    if (!gives && !gets) return {};
    if (Error error = check_op(op, type)) return error;
    if (gives && !gets && in_place(sendbuf)) return in_place_beside_root();
    if (gives && gets && sendbuf == recvbuf && sendbuf && count > 0 && type.size > 0) return same_buffers();
    return {};
}

inline Error check_reduction(const void *sendbuf, const void *recvbuf, int64_t count, const Datatype &type, const Op &op) {
    return check_buffers(sendbuf, recvbuf, count, type, op, true, true);
}

inline Error check_reduce(const Comm &comm, const void *sendbuf, const void *recvbuf, int64_t count, const Datatype &type, const Op &op,
                          int root) {
    return check_buffers(sendbuf, recvbuf, count, type, op, !comm.remote_group || root >= 0, at_root(root, comm));
}

// A scan or exscan, which would need one order of all ranks.
inline Error check_scan(const Comm &comm, const void *sendbuf, const void *recvbuf, int64_t count, const Datatype &type, const Op &op) {
    if (comm.remote_group) return scan_between_groups();
    return check_reduction(sendbuf, recvbuf, count, type, op);
}

inline int64_t own_count(const Comm &, int64_t count) { return count; }
inline int64_t own_count(const Comm &comm, const Counts &counts) { return counts[comm.rank]; }

[[gnu::cold]] inline Error unequal_own_blocks(int64_t sends, int64_t gets) {
    return Error(ErrorClass::count, "what this rank sends to itself has " + std::to_string(sends) + " bytes, but what it receives from itself has " +
                                        std::to_string(gets) + "; counts are those of one block, and must fit at both ends");
}

// Of the block that a rank sends to itself both ends are known here; of the others each rank knows one. A datatype is nullptr where
// the call is in place, or that side is at the root alone.
template <class Sent, class Received>
Error check_own_block(const Comm &comm, const Sent &sendcounts, const Datatype *sendtype, const Received &recvcounts, const Datatype *recvtype) {
    if (comm.remote_group || !sendtype || !recvtype) return {};
    int64_t sends = own_count(comm, sendcounts) * sendtype->size, gets = own_count(comm, recvcounts) * recvtype->size;
    return sends == gets ? Error() : unequal_own_blocks(sends, gets);
}

}  // namespace lanyard::plans
