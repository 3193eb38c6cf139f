// Chooses the algorithm of a collective. Among the algorithms that may be used, the one with the shortest
// estimated time (work.h) is chosen, once for each team, operation and size class. All ranks must make the
// same choice, so it depends only on facts that all of them have: the team's size, nodes and processors, the
// number of bytes, and the properties of the operation and the datatype. The user can override the choice by
// a text such as "allreduce=ring,bcast:64k=binomial", whose second part applies from 64 KiB on.
// Thread rule: the owner of the engine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "coll/algorithms.h"
#include "coll/team.h"

namespace lanyard {

enum class Operation : uint8_t {
    barrier, bcast, reduce, allreduce, gather, scatter, allgather, alltoall, reduce_scatter, scan, exscan,
    count_of_them
};
static_assert(static_cast<int>(Operation::count_of_them) <= collective_operations);

// Bits for the properties that an algorithm needs, and that a call offers.
namespace property {
constexpr unsigned commutes = 1;  // the operation commutes
constexpr unsigned area = 2;  // the team has a node area, and the data fits a slot or can be read where it is
constexpr unsigned contiguous = 4;  // the datatype is contiguous
constexpr unsigned even = 8;        // all blocks have the same bytes
constexpr unsigned nodes = 16;      // the team has several nodes, and several ranks on some node
constexpr unsigned in_order = 32;   // the operation commutes, or the order by nodes is the rank order
}  // namespace property

template <class Shape>
struct Candidate {
    const char *name;
    void (*make)(const Shape &, Schedule &);
    Work (*work)(const Crew &crew, int64_t bytes);
    unsigned needs;
};

// These functions return the names that users see: the name of an operation, and the names of its algorithms
// in the order of their numbers in Team::wanted.
const char *name_of(Operation operation);
std::vector<const char *> algorithms_of(Operation operation);

struct Selection {
    Costs costs;
    // By operation and size class: the name of the algorithm that the user has set, or nullptr.
    const char *wanted[collective_operations][size_classes] = {};
};

// Reads a text by which the user overrides choices. Error: the text is wrong; the error sentence says how to
// correct it.
Error parse_selection(const std::string &text, Selection &selection);
// Makes rows for reports. Each row states which algorithm a team like `crew` uses from `from_bytes` bytes on,
// with the estimates of all algorithms that may be used. `operation` is the name of one operation, or "" for
// all; an unknown name is an error.
struct SelectionRow {
    struct Estimate {
        std::string algorithm;
        double time_us;  // in the first size class of the row
    };
    std::string operation;
    int64_t from_bytes;
    std::string chosen;
    bool overridden;
    std::vector<Estimate> estimates;  // of the algorithms that may be used, the fastest first
};
Error describe_selection(const Selection &selection, const std::string &operation, const Crew &crew,
                         int processors, std::vector<SelectionRow> &rows);
Crew crew_of(const Team &team);
// The work that an algorithm states for itself. False: there is no algorithm of that name.
bool find_work(const std::string &operation, const std::string &algorithm, const Crew &crew, int64_t bytes,
               Work &work);

// These choose an algorithm and let it append its steps to the schedule. `bytes`: the n of algorithms.h.
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
