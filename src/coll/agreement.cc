// See agreement.h.
#include "coll/agreement.h"

#include <cctype>
#include <iterator>
#include <utility>

#include "base/abi_constants.h"

namespace lanyard {

namespace {

constexpr int bytes_bits = 11, reduction_bits = 5, root_bits = 9, persistent_bits = 1, kind_bits = 6;
constexpr int reduction_at = bytes_bits, root_at = reduction_at + reduction_bits,
              persistent_at = root_at + root_bits;
constexpr int kind_at = persistent_at + persistent_bits;
static_assert(kind_at + kind_bits == 32);

constexpr uint32_t field(uint32_t word, int at, int bits) { return word >> at & ((1u << bits) - 1); }
CollectiveKind kind_of(uint32_t word) { return static_cast<CollectiveKind>(field(word, kind_at, kind_bits)); }
bool is_persistent(uint32_t word) { return field(word, persistent_at, persistent_bits) != 0; }
uint32_t root_of(uint32_t word) { return field(word, root_at, root_bits); }
uint32_t reduction_of(uint32_t word) { return field(word, reduction_at, reduction_bits); }
uint32_t bytes_of(uint32_t word) { return field(word, 0, bytes_bits); }

constexpr uint32_t without_root = (1 << root_bits) - 1, some_root = without_root - 1,
                   shared_codes = some_root - Agreement::named_roots;
uint32_t root_code(int root) {
    if (root == Agreement::unknown_root) return some_root;
    if (root == Agreement::no_root) return without_root;
    auto code = static_cast<uint32_t>(root);
    return code < Agreement::named_roots
               ? code
               : Agreement::named_roots + (code - Agreement::named_roots) % shared_codes;
}
bool is_named(uint32_t code) { return code < Agreement::named_roots; }

// Codes for an operation of the program, and for an unknown one. The code of a predefined operation is the
// lowest 5 bits of its ABI value.
constexpr uint32_t own_reduction = 31, some_reduction = 30;
uint32_t reduction_code(int reduction) {
    if (reduction == Agreement::unknown_reduction) return some_reduction;
    return reduction == 0 ? 0 : reduction == 1 ? own_reduction : static_cast<uint32_t>(reduction & 31);
}

constexpr uint32_t some_bytes = 0;
uint32_t digest(int64_t bytes) {
    constexpr uint64_t most = (1 << bytes_bits) - 1;
    return bytes < 0
               ? some_bytes
               : static_cast<uint32_t>(1 + (static_cast<uint64_t>(bytes) * 0x9e3779b97f4a7c15u >> 40) % most);
}

bool same(uint32_t own, uint32_t other, uint32_t unknown) {
    return own == other || own == unknown || other == unknown;
}
bool same_call(uint32_t own, uint32_t other) {
    return kind_of(own) == kind_of(other) && is_persistent(own) == is_persistent(other);
}
bool same_root(uint32_t own, uint32_t other) { return same(root_of(own), root_of(other), some_root); }
bool same_reduction(uint32_t own, uint32_t other) {
    return same(reduction_of(own), reduction_of(other), some_reduction);
}
bool same_bytes(uint32_t own, uint32_t other) { return same(bytes_of(own), bytes_of(other), some_bytes); }

std::string reduction_name(uint32_t code) {
    struct Name {
        int value;
        const char *name;
    };
    constexpr Name names[] = {
        {abi::op_sum, "MPI_SUM"},         {abi::op_min, "MPI_MIN"},       {abi::op_max, "MPI_MAX"},
        {abi::op_prod, "MPI_PROD"},       {abi::op_band, "MPI_BAND"},     {abi::op_bor, "MPI_BOR"},
        {abi::op_bxor, "MPI_BXOR"},       {abi::op_land, "MPI_LAND"},     {abi::op_lor, "MPI_LOR"},
        {abi::op_lxor, "MPI_LXOR"},       {abi::op_minloc, "MPI_MINLOC"}, {abi::op_maxloc, "MPI_MAXLOC"},
        {abi::op_replace, "MPI_REPLACE"}, {abi::op_no_op, "MPI_NO_OP"}};
    for (const Name &name : names)
        if (reduction_code(name.value) == code) return name.name;
    return "an operation of the program";
}

std::string call(uint32_t word) {
    std::string name = name_of(kind_of(word));
    if (!name.empty()) name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    return "MPI_" + name + (is_persistent(word) ? "_init" : "");
}

}  // namespace

const char *name_of(CollectiveKind kind) {
    static constexpr const char *names[] = {
        "", "barrier", "bcast", "reduce", "allreduce", "scan", "exscan", "reduce_scatter_block",
        "reduce_scatter", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall",
        "alltoallv", "alltoallw", "neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall",
        "neighbor_alltoallv", "neighbor_alltoallw", "comm_dup", "comm_split", "comm_split_type",
        "comm_create", "intercomm_create", "intercomm_merge", "cart_create", "cart_sub", "graph_create",
        "dist_graph_create", "dist_graph_create_adjacent", "finalize"};
    static_assert(std::size(names) == static_cast<size_t>(CollectiveKind::count_of_them));
    return kind < CollectiveKind::count_of_them ? names[static_cast<size_t>(kind)] : "";
}

uint32_t Agreement::word() const {
    if (kind == CollectiveKind::none) return 0;
    return static_cast<uint32_t>(kind) << kind_at | root_code(root) << root_at |
           reduction_code(reduction) << reduction_at | digest(bytes);
}

uint32_t persistent_form(uint32_t word) { return word | 1u << persistent_at; }

bool agree_in_all_known(uint32_t word, uint32_t other) {
    if (word == 0 || other == 0) return true;
    return same_call(word, other) && same_root(word, other) && same_reduction(word, other) &&
           same_bytes(word, other);
}

Error out_of_order(uint32_t own, uint32_t own_number, uint32_t other, uint32_t other_number, int other_rank) {
    return Error(ErrorClass::other,
                 "rank " + std::to_string(other_rank) + " calls " + call(other) +
                     " as collective operation " + std::to_string(other_number + 1) +
                     " of this communicator, this rank " + call(own) + " as operation " +
                     std::to_string(own_number + 1) +
                     "; all ranks must call the same collective operations in the same order")
        .of_mismatch();
}

Error disagreement(uint32_t own, uint32_t other, int other_rank) {
    std::string rank = "rank " + std::to_string(other_rank);
    auto mismatch = [&](ErrorClass error_class, std::string sentence) {
        return Error(error_class, std::move(sentence)).of_mismatch(other_rank, other);
    };
    if (!same_call(own, other))
        return mismatch(
            ErrorClass::other,
            rank + " calls " + call(other) + " where this rank calls " + call(own) +
                "; all ranks must call the same collective operations on a communicator in the same order");
    if (!same_root(own, other)) {
        std::string roots = " with another root than this rank";
        if (is_named(root_of(own)) && is_named(root_of(other)))
            roots = " with root " + std::to_string(root_of(other)) + ", this rank with root " +
                    std::to_string(root_of(own));
        return mismatch(ErrorClass::root,
                        rank + " calls " + call(other) + roots + "; all ranks must name the same root");
    }
    if (!same_reduction(own, other))
        return mismatch(ErrorClass::op, rank + " calls " + call(other) + " with " +
                                            reduction_name(reduction_of(other)) + ", this rank with " +
                                            reduction_name(reduction_of(own)) +
                                            "; all ranks must give the same operation");
    if (!same_bytes(own, other))
        return mismatch(
            ErrorClass::count,
            rank + " calls " + call(other) +
                " with another number of bytes than this rank; count and datatype must agree on all ranks");
    return {};
}

}  // namespace lanyard
