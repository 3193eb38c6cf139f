// Which algorithm: the one with the least estimated time (work.h) among those that may be used, chosen once per team,
// operation and size class. Here and nowhere else. All ranks must choose alike, so only what they all know may count:
// the team's size and processors, the bytes, the operation's and datatype's properties.
// A user overrides by text: "allreduce=ring,bcast=binomial".
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "coll/algorithms.h"
#include "coll/team.h"

namespace lanyard {

enum class Operation : uint8_t {
    barrier, bcast, reduce, allreduce, gather, scatter, allgather, alltoall, reduce_scatter, scan, exscan, count_of_them
};
static_assert(static_cast<int>(Operation::count_of_them) <= collective_operations);

// What an algorithm needs and what a call offers, as bits.
namespace property {
constexpr unsigned commutes = 1;    // the operation does
constexpr unsigned area = 2;        // the team has a node area and the data fits into a slot
constexpr unsigned contiguous = 4;  // the datatype is
constexpr unsigned even = 8;        // all blocks have the same bytes
}  // namespace property

template <class Shape>
struct Candidate {
    const char *name;
    void (*make)(const Shape &, Schedule &);
    Work (*work)(int size, int64_t bytes);
    unsigned needs;
};

struct Selection {
    Costs costs;
    const char *wanted[collective_operations] = {};  // by operation: the name of an algorithm, where the user says so
};

// Reads an override; what is wrong with it, with the names that are known, is an error.
Error parse_selection(const std::string &text, Selection &selection);
// What is chosen for a team of this size, per operation and power of two of bytes, with the estimate: for reports.
std::string describe_selection(const Selection &selection, int size, int processors, bool on_one_node);

// Append to the schedule what the best algorithm does; `bytes` as the algorithms count them.
void make_barrier(const Selection &, Team &, const Members &, Schedule &);
void make_bcast(const Selection &, Team &, const BcastShape &, Schedule &);
void make_reduce(const Selection &, Team &, const ReduceShape &, Schedule &);
void make_allreduce(const Selection &, Team &, const ReduceShape &, Schedule &);
void make_gather(const Selection &, Team &, const MoveShape &, int64_t bytes, Schedule &);
void make_scatter(const Selection &, Team &, const MoveShape &, int64_t bytes, Schedule &);
void make_allgather(const Selection &, Team &, const MoveShape &, int64_t bytes, Schedule &);
void make_alltoall(const Selection &, Team &, const MoveShape &, int64_t bytes, Schedule &);
void make_reduce_scatter(const Selection &, Team &, const ReduceScatterShape &, Schedule &);
void make_scan(const Selection &, Team &, const ReduceShape &, Schedule &);
void make_exscan(const Selection &, Team &, const ReduceShape &, Schedule &);

}  // namespace lanyard
