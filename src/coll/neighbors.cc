// See neighbors.h.
#include "coll/neighbors.h"

#include <unordered_map>

namespace lanyard {

namespace {

std::vector<Neighbor> numbered(const std::vector<int> &ranks) {
    std::unordered_map<int, int> named;  // how often each rank has been named so far
    std::vector<Neighbor> neighbors;
    neighbors.reserve(ranks.size());
    for (int rank : ranks) neighbors.push_back({rank, named[rank]++});
    return neighbors;
}

// Serves the edge from this rank to itself that has this number: copies the sent block to where the block
// from the same edge is received.
void copy_to_self(const NeighborShape &s, int number, const Block &from, Schedule &schedule) {
    const std::vector<Neighbor> &sources = s.neighbors->sources;
    for (size_t i = 0; i < sources.size(); ++i)
        if (sources[i].rank == s.index && sources[i].number == number)
            schedule.copy(from, s.received.block(static_cast<int>(i)), {});
}

void write(Team &team, Plan &plan, NeighborShape shape) {
    shape.index = team.index;
    shape.size = team.size;
    neighbors_direct(shape, plan.schedule());
}

}  // namespace

Neighborhood graph_neighborhood(const std::vector<int> &sources, const std::vector<int> &destinations) {
    return {numbered(sources), numbered(destinations)};
}

Neighborhood grid_neighborhood(const std::vector<int> &before_and_after) {
    Neighborhood neighborhood;
    for (size_t i = 0; i < before_and_after.size(); ++i) {
        // The direction as the sender sees it; the receiver sees the opposite direction.
        int towards = static_cast<int>(i);
        neighborhood.destinations.push_back({before_and_after[i], towards});
        neighborhood.sources.push_back({before_and_after[i], towards ^ 1});
    }
    return neighborhood;
}

void neighbors_direct(const NeighborShape &s, Schedule &schedule) {
    const std::vector<Neighbor> &sources = s.neighbors->sources, &destinations = s.neighbors->destinations;
    for (size_t i = 0; i < sources.size(); ++i) {
        const Neighbor &source = sources[i];
        if (source.rank == abi::proc_null || source.rank == s.index) continue;
        schedule.receive(source.rank, s.received.block(static_cast<int>(i)), {}, source.number);
    }
    for (size_t i = 0; i < destinations.size(); ++i) {
        const Neighbor &destination = destinations[i];
        if (destination.rank == abi::proc_null) continue;
        Block from = s.sent.block(s.one_for_all ? 0 : static_cast<int>(i));
        if (destination.rank == s.index) {
            copy_to_self(s, destination.number, from, schedule);
            continue;
        }
        schedule.send(destination.rank, from, {}, destination.number);
    }
}

void plan_neighbor_allgather(Executor &, Team &team, Plan &plan, const Neighborhood &neighbors,
                             const Buffer &own, const Even &all) {
    write(team, plan, {{}, &neighbors, Division::even(Space::send, own.count, *own.datatype), true,
                       Division::even(Space::receive, all.count, *all.datatype)});
    plan.describe({CollectiveKind::neighbor_allgather}, own.base, all.base);
}

void plan_neighbor_allgatherv(Executor &, Team &team, Plan &plan, const Neighborhood &neighbors,
                              const Buffer &own, const Uneven &all) {
    write(team, plan, {{}, &neighbors, Division::even(Space::send, own.count, *own.datatype), true,
                       Division::uneven(Space::receive, all.counts, all.displacements, *all.datatype)});
    plan.describe({CollectiveKind::neighbor_allgatherv}, own.base, all.base);
}

void plan_neighbor_alltoall(Executor &, Team &team, Plan &plan, const Neighborhood &neighbors,
                            const Even &sent, const Even &received) {
    write(team, plan, {{}, &neighbors, Division::even(Space::send, sent.count, *sent.datatype), false,
                       Division::even(Space::receive, received.count, *received.datatype)});
    plan.describe({CollectiveKind::neighbor_alltoall}, sent.base, received.base);
}

void plan_neighbor_alltoallv(Executor &, Team &team, Plan &plan, const Neighborhood &neighbors,
                             const Uneven &sent, const Uneven &received) {
    write(team, plan,
          {{},
           &neighbors,
           Division::uneven(Space::send, sent.counts, sent.displacements, *sent.datatype),
           false,
           Division::uneven(Space::receive, received.counts, received.displacements, *received.datatype)});
    plan.describe({CollectiveKind::neighbor_alltoallv}, sent.base, received.base);
}

void plan_neighbor_alltoallw(Executor &, Team &team, Plan &plan, const Neighborhood &neighbors,
                             const Typed &sent, const Typed &received) {
    write(team, plan,
          {{},
           &neighbors,
           Division::typed(Space::send, sent.counts, sent.displacements, sent.datatypes),
           false,
           Division::typed(Space::receive, received.counts, received.displacements, received.datatypes)});
    plan.describe({CollectiveKind::neighbor_alltoallw}, sent.base, received.base);
}

}  // namespace lanyard
