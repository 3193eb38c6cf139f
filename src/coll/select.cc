#include "coll/select.h"

#include <cstdio>
#include <cstring>
#include <limits>
#include <span>

#include "base/log.h"
#include "coll/node_area.h"

namespace lanyard {

using namespace property;

namespace {

const Candidate<Members> barriers[] = {{"exchange", barrier_exchange, barrier_exchange_work, area},
                                       {"dissemination", barrier_dissemination, barrier_dissemination_work, 0}};
const Candidate<BcastShape> bcasts[] = {
    {"exchange", bcast_exchange, bcast_exchange_work, area},
    {"binomial", bcast_binomial, bcast_binomial_work, 0},
    {"scatter_allgather", bcast_scatter_allgather, bcast_scatter_allgather_work, 0}};
const Candidate<ReduceShape> reduces[] = {{"exchange", reduce_exchange, reduce_exchange_work, area | contiguous},
                                          {"binomial", reduce_binomial, reduce_binomial_work, 0},
                                          {"halving", reduce_halving, reduce_halving_work, commutes}};
const Candidate<ReduceShape> allreduces[] = {
    {"exchange", allreduce_exchange, allreduce_exchange_work, area | contiguous},
    {"recursive_doubling", allreduce_recursive_doubling, allreduce_recursive_doubling_work, 0},
    {"linear", allreduce_linear, allreduce_linear_work, 0},
    {"reduce_bcast", allreduce_reduce_bcast, allreduce_reduce_bcast_work, 0},
    {"halving_doubling", allreduce_halving_doubling, allreduce_halving_doubling_work, commutes},
    {"ring", allreduce_ring, allreduce_ring_work, commutes}};
const Candidate<MoveShape> gathers[] = {{"binomial", gather_binomial, gather_binomial_work, even},
                                        {"linear", gather_linear, gather_linear_work, 0}};
const Candidate<MoveShape> scatters[] = {{"binomial", scatter_binomial, scatter_binomial_work, even},
                                         {"linear", scatter_linear, scatter_linear_work, 0}};
const Candidate<MoveShape> allgathers[] = {{"exchange", allgather_exchange, allgather_exchange_work, area | even},
                                           {"bruck", allgather_bruck, allgather_bruck_work, 0},
                                           {"ring", allgather_ring, allgather_ring_work, 0}};
const Candidate<MoveShape> alltoalls[] = {{"bruck", alltoall_bruck, alltoall_bruck_work, even},
                                          {"pairwise", alltoall_pairwise, alltoall_pairwise_work, 0}};
const Candidate<ReduceScatterShape> reduce_scatters[] = {
    {"halving", reduce_scatter_halving, reduce_scatter_halving_work, commutes},
    {"pairwise", reduce_scatter_pairwise, reduce_scatter_pairwise_work, commutes},
    {"ordered", reduce_scatter_ordered, reduce_scatter_ordered_work, 0}};
const Candidate<ReduceShape> scans[] = {{"doubling", scan_doubling, scan_doubling_work, 0},
                                        {"linear", scan_linear, scan_linear_work, 0}};
const Candidate<ReduceShape> exscans[] = {{"doubling", exscan_doubling, scan_doubling_work, 0},
                                          {"linear", exscan_linear, scan_linear_work, 0}};

int size_class(int64_t bytes) { return std::min(static_cast<int>(std::bit_width(static_cast<uint64_t>(bytes))), size_classes - 1); }
// The bytes for which a whole class is judged.
int64_t typical_bytes(int size_class) { return size_class == 0 ? 0 : (int64_t{3} << size_class) / 4; }

template <class Shape>
size_t cheapest(std::span<const Candidate<Shape>> candidates, unsigned offers, const Costs &costs, int size, int processors,
                int64_t bytes, double *time_ns = nullptr) {
    size_t best = candidates.size();
    double least_ns = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < candidates.size(); ++i) {
        if (candidates[i].needs & ~offers) continue;
        double ns = estimate_ns(candidates[i].work(size, bytes), costs, size, processors);
        if (ns >= least_ns) continue;
        least_ns = ns;
        best = i;
    }
    if (time_ns) *time_ns = least_ns;
    return best;
}

const char *name_of(Operation operation) {
    constexpr const char *names[] = {"barrier",  "bcast",    "reduce",         "allreduce", "gather", "scatter",
                                     "allgather", "alltoall", "reduce_scatter", "scan",      "exscan"};
    static_assert(std::size(names) == static_cast<size_t>(Operation::count_of_them));
    return names[static_cast<size_t>(operation)];
}

// From which bytes on a class holds.
long long first_bytes(int size_class) { return size_class == 0 ? 0 : 1LL << (size_class - 1); }

template <class Shape, size_t n>
void make(Operation operation, const Candidate<Shape> (&table)[n], const Selection &selection, Team &team, unsigned offers,
          int64_t bytes, const Shape &shape, Schedule &schedule) {
    constexpr unsigned everything = commutes | area | contiguous | even;
    std::span<const Candidate<Shape>> candidates(table);
    auto number = static_cast<size_t>(operation);
    if (const char *wanted = selection.wanted[number]) {
        for (const Candidate<Shape> &candidate : candidates)
            if (!std::strcmp(candidate.name, wanted) && !(candidate.needs & ~offers)) return candidate.make(shape, schedule);
    }
    uint8_t &chosen = team.choices[number][size_class(bytes)];
    int64_t typical = typical_bytes(size_class(bytes));
    if (chosen == 0) {
        unsigned known = team.node_area ? everything : everything & ~static_cast<unsigned>(area);
        chosen = static_cast<uint8_t>(cheapest(candidates, known, selection.costs, team.size, team.processors, typical) + 1);
        log(LogLevel::debug, "coll", "context %#llx: %s of %d processes from %lld bytes on goes by %s",
            static_cast<unsigned long long>(team.context), name_of(operation), team.size, first_bytes(size_class(bytes)),
            candidates[chosen - 1u].name);
    }
    size_t best = chosen - 1u;
    // The best of all cannot be used for this call's data: the best of those that can.
    if (candidates[best].needs & ~offers)
        best = cheapest(candidates, offers, selection.costs, team.size, team.processors, typical);
    candidates[best].make(shape, schedule);
}

unsigned area_for(Team &team, int64_t bytes) { return bytes <= node_slot_capacity(team) ? area : 0u; }

unsigned offers_of(Team &team, const ReduceShape &s) {
    const Datatype &type = *s.contribution.type;
    return (s.op->commutative ? commutes : 0u) | (type.contiguous ? contiguous : 0u) | area_for(team, s.contribution.bytes());
}

template <class Visit>
void each_table(Visit visit) {
    visit(Operation::barrier, name_of(Operation::barrier), std::span<const Candidate<Members>>(barriers));
    visit(Operation::bcast, name_of(Operation::bcast), std::span<const Candidate<BcastShape>>(bcasts));
    visit(Operation::reduce, name_of(Operation::reduce), std::span<const Candidate<ReduceShape>>(reduces));
    visit(Operation::allreduce, name_of(Operation::allreduce), std::span<const Candidate<ReduceShape>>(allreduces));
    visit(Operation::gather, name_of(Operation::gather), std::span<const Candidate<MoveShape>>(gathers));
    visit(Operation::scatter, name_of(Operation::scatter), std::span<const Candidate<MoveShape>>(scatters));
    visit(Operation::allgather, name_of(Operation::allgather), std::span<const Candidate<MoveShape>>(allgathers));
    visit(Operation::alltoall, name_of(Operation::alltoall), std::span<const Candidate<MoveShape>>(alltoalls));
    visit(Operation::reduce_scatter, name_of(Operation::reduce_scatter), std::span<const Candidate<ReduceScatterShape>>(reduce_scatters));
    visit(Operation::scan, name_of(Operation::scan), std::span<const Candidate<ReduceShape>>(scans));
    visit(Operation::exscan, name_of(Operation::exscan), std::span<const Candidate<ReduceShape>>(exscans));
}

Error parse_one(const std::string &word, Selection &selection) {
    size_t equals = word.find('=');
    std::string operation = word.substr(0, equals), name = equals == std::string::npos ? "" : word.substr(equals + 1);
    std::string operations, names;
    bool known = false, found = false;
    each_table([&](Operation number, const char *operation_name, auto candidates) {
        operations += std::string(operations.empty() ? "" : ", ") + operation_name;
        if (operation != operation_name) return;
        known = true;
        for (const auto &candidate : candidates) {
            names += std::string(names.empty() ? "" : ", ") + candidate.name;
            if (name != candidate.name) continue;
            selection.wanted[static_cast<size_t>(number)] = candidate.name;
            found = true;
        }
    });
    if (found) return {};
    if (!known) return Error(ErrorClass::arg, "\"" + operation + "\" is no collective operation; known are " + operations);
    return Error(ErrorClass::arg, "\"" + name + "\" is no algorithm for " + operation + "; known are " + names);
}

}  // namespace

Error parse_selection(const std::string &text, Selection &selection) {
    for (size_t begin = 0; begin < text.size();) {
        size_t end = std::min(text.find(',', begin), text.size());
        if (Error error = parse_one(text.substr(begin, end - begin), selection)) return error;
        begin = end + 1;
    }
    return {};
}

std::string describe_selection(const Selection &selection, int size, int processors, bool on_one_node) {
    std::string text;
    each_table([&](Operation number, const char *operation_name, auto candidates) {
        const char *previous = "";
        for (int c = 0; c < 32; ++c) {
            unsigned offers = commutes | contiguous | even;
            int64_t bytes = typical_bytes(c);
            if (on_one_node && static_cast<size_t>(bytes) < node_area_bytes(size) / static_cast<size_t>(size) / 4) offers |= area;
            double time_ns = 0;
            size_t best = cheapest(candidates, offers, selection.costs, size, processors, bytes, &time_ns);
            const char *wanted = selection.wanted[static_cast<size_t>(number)];
            const char *name = wanted ? wanted : candidates[best].name;
            if (std::strcmp(name, previous) != 0) {
                char row[128];
                std::snprintf(row, sizeof row, "%-16s from %10lld bytes: %-20s %10.2f us\n", operation_name,
                              first_bytes(c), name, time_ns / 1000);
                text += row;
            }
            previous = name;
        }
    });
    return text;
}

void make_barrier(const Selection &selection, Team &team, const Members &shape, Schedule &schedule) {
    make(Operation::barrier, barriers, selection, team, area_for(team, 0), 0, shape, schedule);
}
void make_bcast(const Selection &selection, Team &team, const BcastShape &shape, Schedule &schedule) {
    int64_t bytes = shape.data.bytes();
    make(Operation::bcast, bcasts, selection, team, area_for(team, bytes), bytes, shape, schedule);
}
void make_reduce(const Selection &selection, Team &team, const ReduceShape &shape, Schedule &schedule) {
    make(Operation::reduce, reduces, selection, team, offers_of(team, shape), shape.contribution.bytes(), shape, schedule);
}
void make_allreduce(const Selection &selection, Team &team, const ReduceShape &shape, Schedule &schedule) {
    make(Operation::allreduce, allreduces, selection, team, offers_of(team, shape), shape.contribution.bytes(), shape, schedule);
}
void make_gather(const Selection &selection, Team &team, const MoveShape &shape, int64_t bytes, Schedule &schedule) {
    make(Operation::gather, gathers, selection, team, shape.even ? even : 0u, bytes, shape, schedule);
}
void make_scatter(const Selection &selection, Team &team, const MoveShape &shape, int64_t bytes, Schedule &schedule) {
    make(Operation::scatter, scatters, selection, team, shape.even ? even : 0u, bytes, shape, schedule);
}
void make_allgather(const Selection &selection, Team &team, const MoveShape &shape, int64_t bytes, Schedule &schedule) {
    unsigned offers = (shape.even ? even : 0u) | area_for(team, bytes / team.size);
    make(Operation::allgather, allgathers, selection, team, offers, bytes, shape, schedule);
}
void make_alltoall(const Selection &selection, Team &team, const MoveShape &shape, int64_t bytes, Schedule &schedule) {
    make(Operation::alltoall, alltoalls, selection, team, shape.even ? even : 0u, bytes, shape, schedule);
}
void make_reduce_scatter(const Selection &selection, Team &team, const ReduceScatterShape &shape, Schedule &schedule) {
    unsigned offers = shape.op->commutative ? commutes : 0u;
    make(Operation::reduce_scatter, reduce_scatters, selection, team, offers, shape.contribution.bytes(), shape, schedule);
}
void make_scan(const Selection &selection, Team &team, const ReduceShape &shape, Schedule &schedule) {
    make(Operation::scan, scans, selection, team, 0, shape.contribution.bytes(), shape, schedule);
}
void make_exscan(const Selection &selection, Team &team, const ReduceShape &shape, Schedule &schedule) {
    make(Operation::exscan, exscans, selection, team, 0, shape.contribution.bytes(), shape, schedule);
}

}  // namespace lanyard
