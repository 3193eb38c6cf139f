// See select.h.
#include "coll/select.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <span>

#include "base/events.h"
#include "base/log.h"
#include "coll/shm/exchange_task.h"
#include "coll/two_level.h"

namespace lanyard {

using namespace property;

namespace {

// Algorithms with a fixed radix, for the tables below.
template <auto make, int radix, class Shape>
void of_radix(const Shape &shape, Schedule &schedule) {
    make(shape, schedule, radix);
}
template <auto work, int radix>
Work of_radix_work(const Crew &crew, int64_t bytes) {
    return work(crew, bytes, radix);
}
// Algorithms in two levels (two_level.h), with the algorithm that the leaders use.
template <auto make, auto leaders, class Shape>
void above(const Shape &shape, Schedule &schedule) {
    make(shape, schedule, leaders);
}
template <auto leaders_work>
Work of_leaders(const Crew &crew, int64_t bytes) {
    Work work = leaders_work(crew.leaders(), bytes);
    work.far.messages = work.messages;
    return work;
}
template <auto work, auto leaders_work>
Work above_work(const Crew &crew, int64_t bytes) {
    return work(crew, bytes, of_leaders<leaders_work>(crew, bytes));
}
template <auto leaders_work>
Work barrier_above_work(const Crew &crew, int64_t) {
    return two_level::barrier_work(crew, of_leaders<leaders_work>(crew, 0));
}

// If estimates are equal, the first candidate is taken.
const Candidate<Members> barriers[] = {
    {"exchange", barrier_exchange, barrier_exchange_work, area},
    {"dissemination", barrier_dissemination, barrier_dissemination_work, 0},
    {"knomial_4", of_radix<barrier_knomial, 4>, of_radix_work<barrier_knomial_work, 4>, 0},
    {"knomial_8", of_radix<barrier_knomial, 8>, of_radix_work<barrier_knomial_work, 8>, 0},
    {"two_level", above<two_level::barrier, barrier_dissemination>,
     barrier_above_work<barrier_dissemination_work>, nodes},
    {"two_level_4", above<two_level::barrier, of_radix<barrier_knomial, 4, Members>>,
     barrier_above_work<of_radix_work<barrier_knomial_work, 4>>, nodes}};
const Candidate<BcastShape> bcasts[] = {
    {"exchange", bcast_exchange, bcast_exchange_work, area},
    {"binomial", bcast_binomial, bcast_binomial_work, 0},
    {"scatter_allgather", bcast_scatter_allgather, bcast_scatter_allgather_work, 0},
    {"knomial_4", of_radix<bcast_knomial, 4>, of_radix_work<bcast_knomial_work, 4>, 0},
    {"knomial_8", of_radix<bcast_knomial, 8>, of_radix_work<bcast_knomial_work, 8>, 0},
    {"two_level", above<two_level::bcast, bcast_binomial>,
     above_work<two_level::bcast_work, bcast_binomial_work>, nodes},
    {"two_level_4", above<two_level::bcast, of_radix<bcast_knomial, 4, BcastShape>>,
     above_work<two_level::bcast_work, of_radix_work<bcast_knomial_work, 4>>, nodes},
    {"two_level_8", above<two_level::bcast, of_radix<bcast_knomial, 8, BcastShape>>,
     above_work<two_level::bcast_work, of_radix_work<bcast_knomial_work, 8>>, nodes},
    {"two_level_scatter_allgather", above<two_level::bcast, bcast_scatter_allgather>,
     above_work<two_level::bcast_work, bcast_scatter_allgather_work>, nodes}};
const Candidate<ReduceShape> reduces[] = {
    {"exchange", reduce_exchange, reduce_exchange_work, area | contiguous},
    {"exchange_parts", reduce_exchange_parts, reduce_exchange_parts_work, area | contiguous},
    {"binomial", reduce_binomial, reduce_binomial_work, 0},
    {"halving", reduce_halving, reduce_halving_work, commutes},
    {"knomial_4", of_radix<reduce_knomial, 4>, of_radix_work<reduce_knomial_work, 4>, 0},
    {"knomial_8", of_radix<reduce_knomial, 8>, of_radix_work<reduce_knomial_work, 8>, 0},
    {"two_level", above<two_level::reduce, reduce_binomial>,
     above_work<two_level::reduce_work, reduce_binomial_work>, nodes | in_order},
    {"two_level_4", above<two_level::reduce, of_radix<reduce_knomial, 4, ReduceShape>>,
     above_work<two_level::reduce_work, of_radix_work<reduce_knomial_work, 4>>, nodes | in_order},
    {"two_level_8", above<two_level::reduce, of_radix<reduce_knomial, 8, ReduceShape>>,
     above_work<two_level::reduce_work, of_radix_work<reduce_knomial_work, 8>>, nodes | in_order},
    {"two_level_halving", above<two_level::reduce, reduce_halving>,
     above_work<two_level::reduce_work, reduce_halving_work>, nodes | commutes}};
const Candidate<ReduceShape> allreduces[] = {
    {"exchange", allreduce_exchange, allreduce_exchange_work, area | contiguous},
    {"exchange_parts", allreduce_exchange_parts, allreduce_exchange_parts_work, area | contiguous},
    {"recursive_doubling", allreduce_recursive_doubling, allreduce_recursive_doubling_work, 0},
    {"linear", allreduce_linear, allreduce_linear_work, 0},
    {"reduce_bcast", allreduce_reduce_bcast, allreduce_reduce_bcast_work, 0},
    {"halving_doubling", allreduce_halving_doubling, allreduce_halving_doubling_work, commutes},
    {"ring", allreduce_ring, allreduce_ring_work, commutes},
    {"knomial_4", of_radix<allreduce_knomial, 4>, of_radix_work<allreduce_knomial_work, 4>, 0},
    {"knomial_8", of_radix<allreduce_knomial, 8>, of_radix_work<allreduce_knomial_work, 8>, 0},
    {"ring_by_node", two_level::allreduce_ring_by_node, two_level::allreduce_ring_by_node_work,
     nodes | commutes},
    {"two_level", above<two_level::allreduce, allreduce_recursive_doubling>,
     above_work<two_level::allreduce_work, allreduce_recursive_doubling_work>, nodes | in_order},
    {"two_level_knomial_4", above<two_level::allreduce, of_radix<allreduce_knomial, 4, ReduceShape>>,
     above_work<two_level::allreduce_work, of_radix_work<allreduce_knomial_work, 4>>, nodes | in_order},
    {"two_level_halving_doubling", above<two_level::allreduce, allreduce_halving_doubling>,
     above_work<two_level::allreduce_work, allreduce_halving_doubling_work>, nodes | commutes},
    {"two_level_ring", above<two_level::allreduce, allreduce_ring>,
     above_work<two_level::allreduce_work, allreduce_ring_work>, nodes | commutes}};
const Candidate<MoveShape> gathers[] = {
    {"exchange", gather_exchange, gather_exchange_work, area},
    {"binomial", gather_binomial, gather_binomial_work, even},
    {"linear", gather_linear, gather_linear_work, 0},
    {"knomial_4", of_radix<gather_knomial, 4>, of_radix_work<gather_knomial_work, 4>, even},
    {"knomial_8", of_radix<gather_knomial, 8>, of_radix_work<gather_knomial_work, 8>, even},
    {"two_level", two_level::gather, two_level::gather_work, nodes | even}};
const Candidate<MoveShape> scatters[] = {
    {"exchange", scatter_exchange, scatter_exchange_work, area},
    {"binomial", scatter_binomial, scatter_binomial_work, even},
    {"linear", scatter_linear, scatter_linear_work, 0},
    {"knomial_4", of_radix<scatter_knomial, 4>, of_radix_work<scatter_knomial_work, 4>, even},
    {"knomial_8", of_radix<scatter_knomial, 8>, of_radix_work<scatter_knomial_work, 8>, even},
    {"two_level", two_level::scatter, two_level::scatter_work, nodes | even}};
const Candidate<MoveShape> allgathers[] = {
    {"exchange", allgather_exchange, allgather_exchange_work, area},
    {"bruck", allgather_bruck, allgather_bruck_work, 0},
    {"ring", allgather_ring, allgather_ring_work, 0},
    {"two_level_bruck", above<two_level::allgather, allgather_bruck>,
     above_work<two_level::allgather_work, allgather_bruck_work>, nodes},
    {"two_level_ring", above<two_level::allgather, allgather_ring>,
     above_work<two_level::allgather_work, allgather_ring_work>, nodes}};
const Candidate<MoveShape> alltoalls[] = {{"exchange", alltoall_exchange, alltoall_exchange_work, area},
                                          {"bruck", alltoall_bruck, alltoall_bruck_work, even},
                                          {"pairwise", alltoall_pairwise, alltoall_pairwise_work, 0}};
const Candidate<ReduceScatterShape> reduce_scatters[] = {
    {"exchange", reduce_scatter_exchange, reduce_scatter_exchange_work, area | contiguous},
    {"halving", reduce_scatter_halving, reduce_scatter_halving_work, commutes},
    {"pairwise", reduce_scatter_pairwise, reduce_scatter_pairwise_work, commutes},
    {"ordered", reduce_scatter_ordered, reduce_scatter_ordered_work, 0}};
const Candidate<ReduceShape> scans[] = {{"exchange", scan_exchange, scan_exchange_work, area | contiguous},
                                        {"doubling", scan_doubling, scan_doubling_work, 0},
                                        {"linear", scan_linear, scan_linear_work, 0}};
const Candidate<ReduceShape> exscans[] = {
    {"exchange", exscan_exchange, scan_exchange_work, area | contiguous},
    {"doubling", exscan_doubling, scan_doubling_work, 0},
    {"linear", exscan_linear, scan_linear_work, 0}};

int size_class(int64_t bytes) {
    return std::min(static_cast<int>(std::bit_width(static_cast<uint64_t>(bytes))), size_classes - 1);
}
// The first number of bytes of a size class. The algorithm of the whole class is chosen for this number. It
// is a power of two, and programs use powers of two most often.
int64_t first_bytes(int size_class) { return size_class == 0 ? 0 : int64_t{1} << (size_class - 1); }

template <class Shape>
size_t cheapest(std::span<const Candidate<Shape>> candidates, unsigned offers, const Costs &costs,
                const Crew &crew, int processors, int64_t bytes) {
    size_t best = candidates.size();
    double least_ns = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < candidates.size(); ++i) {
        if (candidates[i].needs & ~offers) continue;
        double ns = estimate_ns(candidates[i].work(crew, bytes), costs, crew, processors);
        if (ns >= least_ns) continue;
        least_ns = ns;
        best = i;
    }
    return best;
}

// Returns the bit `area` if what each rank posts fits in its slot, or if the other ranks can read the data
// where it is.
unsigned area_for(Team &team, int64_t bytes) {
    int64_t capacity = node_slot_capacity(team);
    return bytes <= capacity || (capacity >= 0 && team.direct_reads) ? area : 0u;
}

unsigned nodes_for(const Team &team) { return team.nodes && team.nodes->most > 1 ? nodes : 0u; }

template <class Shape, size_t n>
void make(Operation operation, const Candidate<Shape> (&table)[n], const Selection &selection, Team &team,
          unsigned offers, int64_t bytes, const Shape &shape, Schedule &schedule) {
    offers |= nodes_for(team);
    constexpr unsigned everything = commutes | contiguous | even | in_order;
    const unsigned known = everything | area_for(team, first_bytes(size_class(bytes))) | nodes_for(team);
    std::span<const Candidate<Shape>> candidates(table);
    auto number = static_cast<size_t>(operation);
    if (size_t own = team.wanted[number]; own && !(candidates[own - 1].needs & ~(offers & known)))
        return candidates[own - 1].make(shape, schedule);
    if (const char *wanted = selection.wanted[number][size_class(bytes)]) {
        for (const Candidate<Shape> &candidate : candidates)
            if (!std::strcmp(candidate.name, wanted) && !(candidate.needs & ~offers))
                return candidate.make(shape, schedule);
    }
    uint8_t &chosen = team.choices[number][size_class(bytes)];
    int64_t least = first_bytes(size_class(bytes));
    if (chosen == 0) {
        chosen = static_cast<uint8_t>(
            cheapest(candidates, known, selection.costs, crew_of(team), team.processors, least) + 1);
        log(LogLevel::debug, "coll", "context %#llx: %s of %d processes from %lld bytes on goes by %s",
            static_cast<unsigned long long>(team.context), name_of(operation), team.size,
            static_cast<long long>(least), candidates[chosen - 1u].name);
        if (event_wanted(Event::algorithm))
            tell_event(Event::algorithm, team.context,
                       {static_cast<int64_t>(number), chosen, least, team.size});
    }
    size_t best = chosen - 1u;
    // If the best candidate cannot be used for the data of this call, takes the best of the candidates that
    // can be used.
    if (candidates[best].needs & ~offers)
        best = cheapest(candidates, offers, selection.costs, crew_of(team), team.processors, least);
    candidates[best].make(shape, schedule);
}

unsigned offers_of(Team &team, const Op &op, const Block &contribution) {
    const Datatype &type = *contribution.type;
    bool ordered = op.commutative || !team.nodes || team.nodes->runs;
    // Only whole elements can be combined, so one element must fit into the memory into which pieces are
    // read.
    bool divisible = type.size <= exchange_pieces_bytes || contribution.bytes() <= node_slot_capacity(team);
    return (op.commutative ? commutes : 0u) | (ordered ? in_order : 0u) |
           (type.contiguous ? contiguous : 0u) | (divisible ? area_for(team, contribution.bytes()) : 0u);
}

unsigned offers_of(Team &team, const ReduceShape &s) { return offers_of(team, *s.op, s.contribution); }

// `fits`: what each rank posts fits in its slot. If the blocks are even, all ranks compute the same value.
unsigned offers_of(const Team &team, const MoveShape &s, bool fits) {
    bool through_area = team.node_area && (team.direct_reads || (s.even && fits));
    return (s.even ? even : 0u) | (through_area ? area : 0u);
}

// The same for an operation in which ranks post a block for each rank.
unsigned offers_for_each(Team &team, const MoveShape &s, int64_t bytes) {
    unsigned offers = offers_of(team, s, bytes <= node_slot_capacity_for_each(team));
    return node_slot_capacity_for_each(team) < 0 ? offers & ~area : offers;
}

template <class Visit>
void each_table(Visit visit) {
    visit(Operation::barrier, name_of(Operation::barrier), std::span<const Candidate<Members>>(barriers));
    visit(Operation::bcast, name_of(Operation::bcast), std::span<const Candidate<BcastShape>>(bcasts));
    visit(Operation::reduce, name_of(Operation::reduce), std::span<const Candidate<ReduceShape>>(reduces));
    visit(Operation::allreduce, name_of(Operation::allreduce),
          std::span<const Candidate<ReduceShape>>(allreduces));
    visit(Operation::gather, name_of(Operation::gather), std::span<const Candidate<MoveShape>>(gathers));
    visit(Operation::scatter, name_of(Operation::scatter), std::span<const Candidate<MoveShape>>(scatters));
    visit(Operation::allgather, name_of(Operation::allgather),
          std::span<const Candidate<MoveShape>>(allgathers));
    visit(Operation::alltoall, name_of(Operation::alltoall),
          std::span<const Candidate<MoveShape>>(alltoalls));
    visit(Operation::reduce_scatter, name_of(Operation::reduce_scatter),
          std::span<const Candidate<ReduceScatterShape>>(reduce_scatters));
    visit(Operation::scan, name_of(Operation::scan), std::span<const Candidate<ReduceShape>>(scans));
    visit(Operation::exscan, name_of(Operation::exscan), std::span<const Candidate<ReduceShape>>(exscans));
}

// Reads a number of bytes such as "64k". False: the text is no such number.
bool parse_bytes(const std::string &text, int64_t &bytes) {
    char *end = nullptr;
    bytes = std::strtoll(text.c_str(), &end, 10);
    int shift = *end == 'k' || *end == 'K'   ? 10
                : *end == 'm' || *end == 'M' ? 20
                : *end == 'g' || *end == 'G' ? 30
                                             : 0;
    bool good = end != text.c_str() && bytes >= 0 && bytes < int64_t{1} << 30 && end[shift ? 1 : 0] == 0;
    bytes <<= shift;
    return good;
}

std::string known_operations() {
    std::string names;
    each_table(
        [&](Operation, const char *name, auto) { names += std::string(names.empty() ? "" : ", ") + name; });
    return names;
}

Error parse_one(const std::string &word, Selection &selection) {
    size_t equals = word.find('='), colon = word.find(':');
    std::string operation = word.substr(0, std::min(colon, equals));
    if (equals == std::string::npos)
        return Error(ErrorClass::arg, "\"" + word + "\" names no algorithm; write " + operation +
                                          "=ALGORITHM, 'lanyard info --coll' lists them");
    std::string name = word.substr(equals + 1);
    int64_t from_bytes = 0;
    if (colon < equals && !parse_bytes(word.substr(colon + 1, equals - colon - 1), from_bytes))
        return Error(ErrorClass::arg, "\"" + word + "\" names no number of bytes after the colon; write " +
                                          operation + ":64k=ALGORITHM");
    std::string names;
    bool known = false, found = false;
    each_table([&](Operation number, const char *operation_name, auto candidates) {
        if (operation != operation_name) return;
        known = true;
        for (const auto &candidate : candidates) {
            names += std::string(names.empty() ? "" : ", ") + candidate.name;
            if (name != candidate.name) continue;
            auto &wanted = selection.wanted[static_cast<size_t>(number)];
            std::fill(std::begin(wanted) + size_class(from_bytes), std::end(wanted), candidate.name);
            found = true;
        }
    });
    if (found) return {};
    if (!known)
        return Error(ErrorClass::arg,
                     "\"" + operation + "\" is no collective operation; known are " + known_operations());
    return Error(ErrorClass::arg,
                 "\"" + name + "\" is no algorithm for " + operation + "; known are " + names);
}

template <class Shape>
SelectionRow describe_class(std::span<const Candidate<Shape>> candidates, const char *wanted, unsigned offers,
                            const Costs &costs, const Crew &crew, int processors, int64_t bytes) {
    SelectionRow row;
    for (const Candidate<Shape> &candidate : candidates)
        if (!(candidate.needs & ~offers))
            row.estimates.push_back(
                {candidate.name, estimate_ns(candidate.work(crew, bytes), costs, crew, processors) / 1000});
    std::stable_sort(row.estimates.begin(), row.estimates.end(),
                     [](const auto &a, const auto &b) { return a.time_us < b.time_us; });
    auto usable = [&](const auto &estimate) { return wanted && estimate.algorithm == wanted; };
    row.overridden = std::any_of(row.estimates.begin(), row.estimates.end(), usable);
    row.chosen = row.overridden ? wanted : row.estimates.front().algorithm;
    return row;
}

}  // namespace

const char *name_of(Operation operation) {
    constexpr const char *names[] = {"barrier",        "bcast",   "reduce",    "allreduce",
                                     "gather",         "scatter", "allgather", "alltoall",
                                     "reduce_scatter", "scan",    "exscan"};
    static_assert(std::size(names) == static_cast<size_t>(Operation::count_of_them));
    return names[static_cast<size_t>(operation)];
}

std::vector<const char *> algorithms_of(Operation operation) {
    std::vector<const char *> names;
    each_table([&](Operation number, const char *, auto candidates) {
        if (number != operation) return;
        for (const auto &candidate : candidates) names.push_back(candidate.name);
    });
    return names;
}

Crew crew_of(const Team &team) {
    Crew crew(team.size);
    if (!team.nodes) return crew;
    crew.nodes = team.nodes->count();
    crew.most = team.nodes->most;
    crew.fewest = team.nodes->fewest;
    crew.most_on_host = team.nodes->most_on_host;
    crew.runs = team.nodes->runs;
    return crew;
}

Error parse_selection(const std::string &text, Selection &selection) {
    for (size_t begin = 0; begin < text.size();) {
        size_t end = std::min(text.find(',', begin), text.size());
        if (Error error = parse_one(text.substr(begin, end - begin), selection))
            return error.within("LANYARD_COLL=" + text + " cannot be used");
        begin = end + 1;
    }
    return {};
}

Error describe_selection(const Selection &selection, const std::string &operation, const Crew &crew,
                         int processors, std::vector<SelectionRow> &rows) {
    bool known = operation.empty();
    each_table([&](Operation number, const char *name, auto candidates) {
        if (!operation.empty() && operation != name) return;
        known = true;
        constexpr int classes_shown = 32;
        bool sized = number != Operation::barrier;
        for (int c = 0; c < (sized ? classes_shown : 1); ++c) {
            unsigned offers =
                commutes | contiguous | even | in_order | (crew.spread() && crew.most > 1 ? nodes : 0u);
            int64_t bytes = first_bytes(c);
            // Assumes that ranks on a node can read each other's memory, although this depends on the host.
            if (!crew.spread() && crew.size * int64_t{sizeof(SlotPlace)} <= usual_slot_capacity)
                offers |= area;
            const char *wanted = selection.wanted[static_cast<size_t>(number)][c];
            SelectionRow row =
                describe_class(candidates, wanted, offers, selection.costs, crew, processors, bytes);
            row.operation = name;
            row.from_bytes = bytes;
            const SelectionRow *last = rows.empty() ? nullptr : &rows.back();
            if (last && last->operation == row.operation && last->chosen == row.chosen &&
                last->overridden == row.overridden)
                continue;
            rows.push_back(std::move(row));
        }
    });
    if (known) return {};
    return Error(ErrorClass::arg,
                 "\"" + operation + "\" is no collective operation; known are " + known_operations());
}

bool find_work(const std::string &operation, const std::string &algorithm, const Crew &crew, int64_t bytes,
               Work &work) {
    bool found = false;
    each_table([&](Operation, const char *name, auto candidates) {
        for (const auto &candidate : candidates) {
            if (operation != name || algorithm != candidate.name) continue;
            work = candidate.work(crew, bytes);
            found = true;
        }
    });
    return found;
}

void make_barrier(const Selection &selection, Team &team, const Members &shape, Schedule &schedule) {
    make(Operation::barrier, barriers, selection, team, area_for(team, 0), 0, shape, schedule);
}
void make_bcast(const Selection &selection, Team &team, const BcastShape &shape, Schedule &schedule) {
    int64_t bytes = shape.data.bytes();
    make(Operation::bcast, bcasts, selection, team, area_for(team, bytes), bytes, shape, schedule);
}
void make_reduce(const Selection &selection, Team &team, const ReduceShape &shape, Schedule &schedule) {
    make(Operation::reduce, reduces, selection, team, offers_of(team, shape), shape.contribution.bytes(),
         shape, schedule);
}
void make_allreduce(const Selection &selection, Team &team, const ReduceShape &shape, Schedule &schedule) {
    make(Operation::allreduce, allreduces, selection, team, offers_of(team, shape),
         shape.contribution.bytes(), shape, schedule);
}
void make_gather(const Selection &selection, Team &team, const MoveShape &shape, int64_t bytes,
                 Schedule &schedule) {
    make(Operation::gather, gathers, selection, team,
         offers_of(team, shape, bytes <= node_slot_capacity(team)), bytes, shape, schedule);
}
void make_scatter(const Selection &selection, Team &team, const MoveShape &shape, int64_t bytes,
                  Schedule &schedule) {
    make(Operation::scatter, scatters, selection, team, offers_for_each(team, shape, bytes), bytes, shape,
         schedule);
}
void make_allgather(const Selection &selection, Team &team, const MoveShape &shape, int64_t bytes,
                    Schedule &schedule) {
    unsigned offers = offers_of(team, shape, bytes / team.size <= node_slot_capacity(team));
    make(Operation::allgather, allgathers, selection, team, offers, bytes, shape, schedule);
}
void make_alltoall(const Selection &selection, Team &team, const MoveShape &shape, int64_t bytes,
                   Schedule &schedule) {
    make(Operation::alltoall, alltoalls, selection, team, offers_for_each(team, shape, bytes), bytes, shape,
         schedule);
}
void make_reduce_scatter(const Selection &selection, Team &team, const ReduceScatterShape &shape,
                         Schedule &schedule) {
    unsigned offers = offers_of(team, *shape.op, shape.contribution);
    make(Operation::reduce_scatter, reduce_scatters, selection, team, offers, shape.contribution.bytes(),
         shape, schedule);
}
void make_scan(const Selection &selection, Team &team, const ReduceShape &shape, Schedule &schedule) {
    make(Operation::scan, scans, selection, team, offers_of(team, shape), shape.contribution.bytes(), shape,
         schedule);
}
void make_exscan(const Selection &selection, Team &team, const ReduceShape &shape, Schedule &schedule) {
    make(Operation::exscan, exscans, selection, team, offers_of(team, shape), shape.contribution.bytes(),
         shape, schedule);
}

}  // namespace lanyard
