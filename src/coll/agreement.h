// Encodes what all ranks of one collective operation must agree upon (MPI-5.0 6.1: same calls, same order,
// arguments that match). The code is the 32 bits of an envelope's check word ("word" below), so that every
// message of a collective states to which call the message belongs.
//
//   kind of operation: 6 bits | persistent: 1 | root: 9 | reduction: 5 | digest of a contribution's bytes: 11
//
// The word 0 states nothing and agrees with every word. Likewise, a field whose value a rank does not know
// agrees with every value. For example, in an intercommunicator only the root and the other group have the
// arguments. In a correct program all words of one collective agree. The words of different calls may agree
// by coincidence, because high roots share codes, and the bytes are stored only as a digest. If only the
// bytes differ, the lengths of the messages then show the difference. Blocking and nonblocking forms of a
// collective have the same word, because ranks may mix them here.
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

// Two kinds of envelopes, by which ranks find out whether all of them call the same collective. Such an
// envelope has the context and tag of a collective, and `check` is the word of that collective. A rank that
// has waited long in a collective sends kind_awaiting. A rank that made a different call at that place in the
// sequence answers with kind_calls. A rank that finds a mismatch also sends kind_calls to all other ranks.
constexpr EnvelopeKind kind_awaiting{48};
constexpr EnvelopeKind kind_calls{49};  // the rank in the field `source` calls this collective

const char *name_of(CollectiveKind kind);  // in lower case, without "MPI_"

struct Agreement {
    // Values of `root` that are neither a rank nor an MPI constant.
    static constexpr int no_root = INT_MIN, unknown_root = no_root + 1;
    // Each root below this number has a code of its own, so errors can name it.
    static constexpr int named_roots = 256;
    static constexpr int unknown_reduction = -1;
    // Value of `bytes` if ranks may contribute different numbers of bytes.
    static constexpr int64_t unequal = -1;

    CollectiveKind kind = CollectiveKind::none;
    // The root's rank. Between two groups, where no rank names the root like this, it is the root's index in
    // the team plus named_roots.
    int root = no_root;
    int reduction = 0;  // the ABI's value of a predefined operation; 1: an operation of the program; 0: none
    int64_t bytes = unequal;  // the number of bytes that every rank contributes, or gets

    uint32_t word() const;
};

// Converts the word of a collective (MPI_Bcast) to the word of its persistent form (MPI_Bcast_init).
uint32_t persistent_form(uint32_t word);

bool agree_in_all_known(uint32_t word, uint32_t other);
// Could both words belong to the same collective?
inline bool agree(uint32_t word, uint32_t other) { return word == other || agree_in_all_known(word, other); }
// The error that states how the calls of two ranks at one place in the sequence differ, for example: "rank 2
// calls MPI_Bcast with root 1, this rank with root 0; ...". Roots are named only if the words show both of
// them (named_roots). Returns no error if the words agree.
Error disagreement(uint32_t own, uint32_t other, int other_rank);
// The same for two ranks that are at different places in the sequence of collectives. `own_number` and
// `other_number` are these places, counted from 0.
Error out_of_order(uint32_t own, uint32_t own_number, uint32_t other, uint32_t other_number, int other_rank);

}  // namespace lanyard
