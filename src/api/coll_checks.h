// Checks the arguments of collective operations for mistakes that the checks of single arguments (check.h)
// cannot find: whether the operation is defined on the datatype, whether the block that a rank sends to
// itself has the same length on both sides, and whether buffers share memory. The tests are cheap and inline;
// the error messages are built out of line (coll_checks.cc). The typed functions of all forms (blocking,
// nonblocking and persistent) call these checks.
//
// No memory may be both sent from and received into (MPI-5.0 2.3 and 6.2). The checks report only what is
// certainly a violation: ranges of bytes that overlap. They ignore datatypes with gaps, because the gaps
// of one buffer may contain the data of the other; only reductions whose two buffers have the same address
// are reported all the same. The checks also ignore blocks at separate displacements (the v and w forms),
// except for the block that a rank sends to itself and receives from itself. In MPI_Reduce_scatter, they
// compare recvbuf only with the beginning of sendbuf, up to the same length.
// Tested by: tests/mpi/coll/overlaps.cc, tests/mpi/coll/accepted.cc, tests/failures/test_arguments.py.
#pragma once

#include "api/check.h"
#include "api/types.h"
#include "comm/comm.h"
#include "datatype/op.h"

namespace lanyard::plans {

// The product of two sizes. A faulty program may pass sizes whose product overflows; the product
// then wraps.
inline int64_t times(int64_t one, int64_t other) {
    return static_cast<int64_t>(static_cast<uint64_t>(one) * static_cast<uint64_t>(other));
}

// One side of an operation. The datatype is nullptr if this side is MPI_IN_PLACE or does not matter at this
// rank.
struct Side {
    const void *address = nullptr;
    int64_t count = 0;  // elements of each block
    const Datatype *type = nullptr;
    int64_t blocks = 1;  // the blocks lie one behind the other

    int64_t block_bytes() const { return times(count, type->size); }
    int64_t bytes() const { return times(blocks, block_bytes()); }
};

// Which argument the error message recommends to replace by MPI_IN_PLACE. For `none` and `inbuf`, the
// message recommends other memory; `inbuf` uses the argument names of MPI_Reduce_local.
enum class Instead { sendbuf, recvbuf, none, inbuf };
inline Instead unless_between_groups(const Comm &comm, Instead instead) {
    return comm.remote_group ? Instead::none : instead;
}

[[gnu::cold]] Error in_place_beside_root();
[[gnu::cold]] Error scan_between_groups();
[[gnu::cold]] Error unequal_own_blocks(int64_t sends, int64_t gets);
// Called for ranges for which can_meet() is true. `whole`: the data has no gaps, or both buffers have the
// same address and datatype. Returns no error unless the overlap is certain.
[[gnu::cold]] Error refuse_shared_memory(const void *sent, int64_t sent_bytes, const void *received,
                                         int64_t received_bytes, bool whole, Instead instead);
// Called if the standard does not define the operation on this datatype. Returns no error if the library
// accepts the pair all the same (see keeps_to_standard() in door.h).
[[gnu::cold]] Error check_undefined_op(const Op &op, const Datatype &type);

// True if two ranges of bytes overlap. Can also be true if a range is empty; refuse_shared_memory()
// then returns no error.
inline bool can_meet(const void *one, int64_t one_bytes, const void *other, int64_t other_bytes) {
    auto ahead = reinterpret_cast<uintptr_t>(one) - reinterpret_cast<uintptr_t>(other);
    auto before = static_cast<uint64_t>(one_bytes) - 1;
    return ahead + before < before + static_cast<uint64_t>(other_bytes);
}

inline Error check_reduction_op(const Op &op, const Datatype &type) {
    return defined_on(op, type) ? Error() : check_undefined_op(op, type);
}

// Checks that the operation may be used on this datatype, that the two buffers share no memory, and that a
// rank with no recvbuf does not pass MPI_IN_PLACE. sendbuf has `sent_blocks` blocks, recvbuf has one.
// `gives`: sendbuf matters at this rank. `gets`: recvbuf matters at this rank. Both are false at the non-root
// ranks in the root's group of an intercommunicator, and then nothing is checked.
inline Error check_buffers(const Comm &comm, const void *sendbuf, const void *recvbuf, int64_t count,
                           const Datatype &type, const Op &op, bool gives, bool gets,
                           int64_t sent_blocks = 1) {
    if (!gives && !gets) return {};
    if (Error error = check_reduction_op(op, type)) return error;
    if (gives && !gets && in_place(sendbuf)) return in_place_beside_root();
    int64_t bytes = times(count, type.size);
    if (gives && gets && can_meet(sendbuf, times(sent_blocks, bytes), recvbuf, bytes)) [[unlikely]]
        return refuse_shared_memory(sendbuf, times(sent_blocks, bytes), recvbuf, bytes,
                                    type.contiguous || sendbuf == recvbuf,
                                    unless_between_groups(comm, Instead::sendbuf));
    return {};
}

inline Error check_reduction(const Comm &comm, const void *sendbuf, const void *recvbuf, int64_t count,
                             const Datatype &type, const Op &op) {
    return check_buffers(comm, sendbuf, recvbuf, count, type, op, true, true);
}

inline Error check_reduce(const Comm &comm, const void *sendbuf, const void *recvbuf, int64_t count,
                          const Datatype &type, const Op &op, int root) {
    return check_buffers(comm, sendbuf, recvbuf, count, type, op, !comm.remote_group || root >= 0,
                         at_root(root, comm));
}

// Each rank contributes one block for every rank of its group and receives one block.
inline Error check_reduce_scatter(const Comm &comm, const void *sendbuf, const void *recvbuf,
                                  int64_t recvcount, const Datatype &type, const Op &op) {
    return check_buffers(comm, sendbuf, recvbuf, recvcount, type, op, true, true, comm.group->size());
}

// Checks a scan or exscan. These operations need one order of all ranks, so they do not exist on an
// intercommunicator.
inline Error check_scan(const Comm &comm, const void *sendbuf, const void *recvbuf, int64_t count,
                        const Datatype &type, const Op &op) {
    if (comm.remote_group) return scan_between_groups();
    return check_reduction(comm, sendbuf, recvbuf, count, type, op);
}

inline Error check_apart(Side sent, Side received, Instead instead) {
    if (can_meet(sent.address, sent.bytes(), received.address, received.bytes())) [[unlikely]]
        return refuse_shared_memory(sent.address, sent.bytes(), received.address, received.bytes(),
                                    sent.type->contiguous && received.type->contiguous, instead);
    return {};
}

// A rank can compare lengths only for the block that it sends to itself, because it knows only one end of
// each other block. Most calls pass the same count and datatype on both sides, and buffers that are far
// apart. check_sides() accepts these calls inline and leaves all others to look_closely().
[[gnu::cold]] Error look_closely(const Comm &comm, const void *sendbuf, int64_t sendcount,
                                 const Datatype *sendtype, int64_t sent_blocks, const void *recvbuf,
                                 int64_t recvcount, const Datatype *recvtype, int64_t received_blocks,
                                 Instead instead);
[[gnu::always_inline]] inline Error check_sides(const Comm &comm, Side sent, Side received,
                                                Instead instead = Instead::sendbuf) {
    if (sent.type == received.type && sent.count == received.count) [[likely]] {
        if (!sent.type) return {};
        auto one = static_cast<uint64_t>(sent.block_bytes());
        uint64_t end = reinterpret_cast<uintptr_t>(sent.address) + static_cast<uint64_t>(sent.blocks) * one;
        uint64_t both = static_cast<uint64_t>(sent.blocks + received.blocks) * one;
        if (end - reinterpret_cast<uintptr_t>(received.address) >= both) [[likely]]
            return {};
    } else if (!sent.type || !received.type) {
        return {};
    }
    return look_closely(comm, sent.address, sent.count, sent.type, sent.blocks, received.address,
                        received.count, received.type, received.blocks, instead);
}

// blocks_of_all() describes the blocks of all ranks, and own_block() this rank's own block among them. On an
// intercommunicator there is no own block. own_block_at() is the common part of both forms of own_block();
// `unit` is the number of bytes for which a displacement of 1 stands.
inline Side blocks_of_all(const Comm &comm, const void *address, int64_t count, const Datatype *type) {
    return {address, count, type, comm.size};
}
inline Side own_block_at(const Comm &comm, const void *address, const Counts &counts,
                         const Counts &displacements, const Datatype *type, int64_t unit) {
    auto at = [&](auto number) -> Side {  // both arrays have the same integer type
        auto *all = static_cast<const decltype(number) *>(counts.data);
        auto *places = static_cast<const decltype(number) *>(displacements.data);
        // an integer, because `address` may be MPI_BOTTOM
        auto place = static_cast<uintptr_t>(times(places[comm.rank], unit));
        return {reinterpret_cast<const void *>(reinterpret_cast<uintptr_t>(address) + place), all[comm.rank],
                type};
    };
    return counts.width == 4 ? at(int32_t{}) : at(int64_t{});
}
inline Side own_block(const Comm &comm, const void *address, const Counts &counts,
                      const Counts &displacements, const Datatype *type) {
    if (comm.remote_group || !type) return {};
    return own_block_at(comm, address, counts, displacements, type, type->extent);
}
inline Side own_block(const Comm &comm, const void *address, const Counts &counts,
                      const Counts &displacements, Datatype *const *types) {
    if (comm.remote_group || !types) return {};
    return own_block_at(comm, address, counts, displacements, types[comm.rank], 1);
}

}  // namespace lanyard::plans
