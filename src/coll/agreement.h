// What all ranks of one collective operation must agree upon (MPI-5.0 6.1: same calls, same order, arguments
// that fit). It is kept in the 32 bits of an envelope's check word, so that every message of a collective
// states which one it belongs to.
//
//   kind of operation: 6 bits | persistent: 1 | root: 9 | reduction: 5 | digest of a contribution's bytes: 11
//
// 0 states nothing and agrees with everything. So does a field whose value a rank does not know, for example
// on a rank beside the root of an intercommunicator. Two words that do not agree never belong to a correct
// program. Different calls may agree by a coincidence of the digests; the lengths of the messages then show
// the difference. Blocking and nonblocking forms are not distinguished, because they work together here.
// Thread rule: any thread; pure functions.
#pragma once

#include <climits>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "path/envelope.h"

namespace lanyard {

enum class CollectiveKind : uint8_t {
    none, barrier, bcast, reduce, allreduce, scan, exscan, reduce_scatter_block, reduce_scatter, gather,
    gatherv, scatter, scatterv, allgather, allgatherv, alltoall, alltoallv, alltoallw, neighbor_allgather,
    neighbor_allgatherv, neighbor_alltoall, neighbor_alltoallv, neighbor_alltoallw, comm_dup, comm_split,
    comm_split_type, comm_create, intercomm_create, intercomm_merge, cart_create, cart_sub, graph_create,
    dist_graph_create, dist_graph_create_adjacent, finalize, count_of_them
};
static_assert(static_cast<int>(CollectiveKind::count_of_them) <= 64);

// Envelopes by which ranks find out whether all of them call the same collective. Context and tag are those
// of the collective, and `check` is its word.
constexpr EnvelopeKind kind_awaiting{48};  // the sender waits long in it; a rank in another call answers
constexpr EnvelopeKind kind_calls{49};     // the rank named as source calls it

const char *name_of(CollectiveKind kind);  // without "MPI_", in lower case

struct Agreement {
    // Neither a rank nor a constant for one.
    static constexpr int no_root = INT_MIN, unknown_root = no_root + 1;
    static constexpr int unknown_reduction = -1;
    static constexpr int64_t unequal = -1;  // ranks may contribute different numbers of bytes

    CollectiveKind kind = CollectiveKind::none;
    int root = no_root;       // by its index in the team
    int reduction = 0;        // the ABI's value of a predefined operation, or 1 for one of the program
    int64_t bytes = unequal;  // that every rank contributes, or gets

    uint32_t word() const;
};

// What ranks that create a persistent operation must agree upon, from the word of the operation.
uint32_t persistent_form(uint32_t word);

bool agree_in_all_known(uint32_t word, uint32_t other);
// May both words come from ranks that are in the same collective?
inline bool agree(uint32_t word, uint32_t other) { return word == other || agree_in_all_known(word, other); }
// What two ranks do that do not agree: "rank 2 is in MPI_Bcast with root 1, this rank in MPI_Reduce with root
// 0 and MPI_SUM".
Error disagreement(uint32_t own, uint32_t other, int other_rank);
// The same for two ranks at different places in the sequence of collectives. Numbers count from 0.
Error out_of_order(uint32_t own, uint32_t own_number, uint32_t other, uint32_t other_number, int other_rank);

}  // namespace lanyard
