// Creates communicators with a topology. For grids and graphs no data is exchanged beforehand, because every
// process passes the whole topology. The processes of a distributed graph exchange their edges by collectives
// of the parent.
// Tested by: tests/unit/comm/topology_test.cc, tests/mpi/topology/topologies.cc.
#include <numeric>
#include <string>

#include "comm/create.h"
#include "comm/placement.h"
#include "comm/topology.h"

namespace lanyard {

namespace {

std::vector<int> nodes_of(const Comm &comm) {
    std::vector<int> nodes;
    for (int rank = 0; rank < comm.size; ++rank)
        nodes.push_back(static_cast<int>(comm.universe->processes.node(comm.peers[rank])));
    return nodes;
}

Placement in_order(int places) {
    Placement placement(static_cast<size_t>(places));
    std::iota(placement.begin(), placement.end(), 0);
    return placement;
}

// Used for graphs, whose edges all ranks have. An edge may be listed at both of its ends.
Placement place(const Comm &parent, const Graph &graph) {
    std::vector<WeightedEdge> edges;
    for (int rank = 0; rank < static_cast<int>(graph.index.size()); ++rank)
        for (int neighbor : graph.neighbors_of(rank)) edges.push_back({rank, neighbor});
    return place_graph(Adjacency(static_cast<int>(graph.index.size()), edges), nodes_of(parent));
}

Placement place(const Comm &parent, const Grid &grid) {
    return place_grid(grid.dims, grid.periodic, nodes_of(parent));
}

int place_of(const Comm &parent, const Placement &placement) {
    for (size_t place = 0; place < placement.size(); ++place)
        if (placement[place] == parent.rank) return static_cast<int>(place);
    return abi::undefined;
}

Error create_placed(Comm &parent, CollectiveKind kind, const Placement &placement, Comm *&made) {
    Peers peers;
    for (int rank : placement) peers.push_back(parent.peers[rank]);
    Group *group = make_group(*parent.universe, std::move(peers), parent.group->session);
    if (!group) return {ErrorClass::no_mem, "there is no memory left for another communicator"};
    Error error = create_comm(parent, kind, *group, made);
    release_group(group);
    return error;
}

void attach(Comm &comm, Grid grid) {
    std::vector<int> neighbors, coords = grid.coords_of(comm.rank);
    for (size_t d = 0; d < grid.dims.size(); ++d)
        for (int distance : {-1, 1}) neighbors.push_back(grid.shifted(coords, d, distance));
    comm.topology = std::make_shared<Topology>(Topology{std::move(grid), grid_neighborhood(neighbors)});
}

void attach(Comm &comm, Graph graph) {
    std::vector<int> neighbors = graph.neighbors_of(comm.rank);
    bool symmetric = graph.symmetric();
    comm.topology = std::make_shared<Topology>(
        Topology{std::move(graph), graph_neighborhood(neighbors, neighbors), symmetric});
}

void attach(Comm &comm, DistributedGraph graph) {
    Neighborhood neighborhood = graph_neighborhood(graph.sources, graph.destinations);
    comm.topology = std::make_shared<Topology>(Topology{std::move(graph), std::move(neighborhood)});
}

template <class Form>
Error create(Comm &parent, CollectiveKind kind, const Form &form, const Placement &placement, Comm *&made) {
    Error error = create_placed(parent, kind, placement, made);
    if (!error && made) attach(*made, form);
    return error;
}

Buffer bytes_of(void *data, size_t bytes) {
    return {static_cast<std::byte *>(data), static_cast<int64_t>(bytes), &packed_bytes()};
}

// The lengths and places of contiguous blocks of bytes, one for each rank.
struct Blocks {
    std::vector<int64_t> lengths, places;

    explicit Blocks(const std::vector<int64_t> &elements, size_t element_bytes) {
        int64_t place = 0;
        for (int64_t count : elements) {
            lengths.push_back(count * static_cast<int64_t>(element_bytes));
            places.push_back(place);
            place += lengths.back();
        }
    }
    Uneven of(void *data) const {
        return {static_cast<std::byte *>(data), {lengths.data(), 8}, {places.data(), 8}, &packed_bytes()};
    }
};

// ---- a distributed graph with reordered ranks: every process needs the whole graph
struct Degrees {
    int32_t in = 0, out = 0, weighted = 0;
    int64_t numbers() const { return int64_t{in + int64_t{out}} * (weighted ? 2 : 1); }
};

std::vector<int> flattened(const DistributedGraph &graph) {
    std::vector<int> numbers;
    for (const std::vector<int> *list :
         {&graph.sources, &graph.destinations, &graph.source_weights, &graph.destination_weights})
        numbers.insert(numbers.end(), list->begin(), list->end());
    return numbers;
}

DistributedGraph unflattened(const Degrees &degrees, const int *numbers) {
    auto list = [&numbers](int32_t length) {
        std::vector<int> taken(numbers, numbers + length);
        numbers += length;
        return taken;
    };
    DistributedGraph graph;
    graph.weighted = degrees.weighted != 0;
    graph.sources = list(degrees.in);
    graph.destinations = list(degrees.out);
    if (graph.weighted) graph.source_weights = list(degrees.in);
    if (graph.weighted) graph.destination_weights = list(degrees.out);
    return graph;
}

Error gather_graph(Comm &parent, CollectiveKind kind, const DistributedGraph &own,
                   std::vector<DistributedGraph> &all) {
    Executor &executor = *parent.universe->executor;
    EngineGuard guard(executor.engine());
    Degrees mine{static_cast<int32_t>(own.sources.size()), static_cast<int32_t>(own.destinations.size()),
                 own.weighted};
    std::vector<Degrees> degrees(static_cast<size_t>(parent.size));
    if (Error error = blocking(executor, parent.team, kind, plan_allgather, bytes_of(&mine, sizeof mine),
                               bytes_of(degrees.data(), sizeof mine)))
        return error;
    std::vector<int64_t> lengths;
    for (const Degrees &one : degrees) lengths.push_back(one.numbers());
    Blocks blocks(lengths, sizeof(int));
    std::vector<int> told = flattened(own),
                     heard(static_cast<size_t>(std::reduce(lengths.begin(), lengths.end())));
    Error error = blocking(executor, parent.team, kind, plan_allgatherv,
                           bytes_of(told.data(), told.size() * sizeof(int)), blocks.of(heard.data()));
    if (error) return error;
    for (size_t rank = 0; rank < degrees.size(); ++rank)
        all.push_back(unflattened(degrees[rank],
                                  heard.data() + blocks.places[rank] / static_cast<int64_t>(sizeof(int))));
    return {};
}

Placement place(const Comm &parent, const std::vector<DistributedGraph> &all) {
    std::vector<WeightedEdge> edges;
    for (size_t rank = 0; rank < all.size(); ++rank)
        for (size_t i = 0; i < all[rank].destinations.size(); ++i)
            edges.push_back({static_cast<int>(rank), all[rank].destinations[i],
                             all[rank].weighted ? all[rank].destination_weights[i] : 1});
    return place_graph(Adjacency(parent.size, edges), nodes_of(parent));
}

// ---- edges that any process may name
struct EdgeSum {
    int32_t edges = 0;
    int32_t marks = 0;
};
constexpr int32_t refuses = 1, weighs = 2, names_edges = 4;

struct EdgeNews {
    int32_t other = 0, weight = 0, begins = 0;  // `begins`: the edge begins at the rank that receives this
};

// Checks that all arguments are valid, and that either all processes pass weights or none does. A process
// that names no edges is compatible with both choices, unless no process names any edges.
Error judge(const std::vector<EdgeSum> &heard, bool &weighted) {
    int weighing = -1, not_weighing = -1;
    bool any = false;
    for (const EdgeSum &sum : heard) any |= (sum.marks & names_edges) != 0;
    for (size_t rank = 0; rank < heard.size(); ++rank) {
        int32_t marks = heard[rank].marks;
        if (marks & refuses)
            return {ErrorClass::arg,
                    "rank " + std::to_string(rank) +
                        " of the communicator gave wrong arguments; its own error says which"};
        if (any && !(marks & names_edges)) continue;
        (marks & weighs ? weighing : not_weighing) = static_cast<int>(rank);
    }
    weighted = not_weighing < 0;
    if (weighing < 0 || not_weighing < 0) return {};
    return {ErrorClass::arg, "rank " + std::to_string(not_weighing) + " gives MPI_UNWEIGHTED but rank " +
                                 std::to_string(weighing) + " gives weights; all must do the same"};
}

}  // namespace

int rank_in_grid(const Comm &parent, const Grid &grid) { return place_of(parent, place(parent, grid)); }
int rank_in_graph(const Comm &parent, const Graph &graph) { return place_of(parent, place(parent, graph)); }

Error create_grid(Comm &parent, const Grid &grid, bool reorder, Comm *&made) {
    return create(parent, CollectiveKind::cart_create, grid,
                  reorder ? place(parent, grid) : in_order(grid.size()), made);
}

Error create_graph(Comm &parent, const Graph &graph, bool reorder, Comm *&made) {
    return create(parent, CollectiveKind::graph_create, graph,
                  reorder ? place(parent, graph) : in_order(static_cast<int>(graph.index.size())), made);
}

Error create_distributed(Comm &parent, CollectiveKind kind, DistributedGraph own, const Info *hints,
                         bool reorder, Comm *&made) {
    Placement placement = in_order(parent.size);
    std::vector<DistributedGraph> all;
    if (reorder && !parent.universe->share_node(parent.group->peers)) {
        if (Error error = gather_graph(parent, kind, own, all)) return error;
        placement = place(parent, all);
    }
    if (Error error = create_placed(parent, kind, placement, made)) return error;
    attach(*made, all.empty() ? std::move(own) : std::move(all[static_cast<size_t>(made->rank)]));
    return set_hints(*made, hints);
}

Error split_grid(Comm &comm, const int *remain, Comm *&made) {
    const Grid &grid = *comm.topology->grid();
    std::vector<int> coords = grid.coords_of(comm.rank);
    Grid part;
    int color = 0, key = 0;
    for (size_t d = 0; d < grid.dims.size(); ++d) {
        int &number = remain[d] ? key : color;
        number = number * grid.dims[d] + coords[d];
        if (!remain[d]) continue;
        part.dims.push_back(grid.dims[d]);
        part.periodic.push_back(grid.periodic[d]);
    }
    if (Error error = split_comm(comm, CollectiveKind::cart_sub, color, key, made)) return error;
    attach(*made, std::move(part));
    return {};
}

Error exchange_edges(Comm &parent, CollectiveKind kind, const std::vector<NamedEdge> &named, bool weighted,
                     Error refused, DistributedGraph &own) {
    auto size = static_cast<size_t>(parent.size);
    std::vector<std::vector<EdgeNews>> news(size);
    for (const NamedEdge &edge : named) {
        news[static_cast<size_t>(edge.source)].push_back({edge.destination, edge.weight, 1});
        news[static_cast<size_t>(edge.destination)].push_back({edge.source, edge.weight, 0});
    }
    std::vector<EdgeSum> told(size), heard(size);
    std::vector<int64_t> telling, hearing;
    std::vector<EdgeNews> out;
    for (size_t rank = 0; rank < size; ++rank) {
        told[rank].edges = static_cast<int32_t>(news[rank].size());
        told[rank].marks =
            (refused ? refuses : 0) | (weighted ? weighs : 0) | (named.empty() ? 0 : names_edges);
        telling.push_back(told[rank].edges);
        out.insert(out.end(), news[rank].begin(), news[rank].end());
    }
    Executor &executor = *parent.universe->executor;
    EngineGuard guard(executor.engine());
    Even tells = bytes_of(told.data(), sizeof(EdgeSum)), hears = bytes_of(heard.data(), sizeof(EdgeSum));
    Error error = blocking(executor, parent.team, kind, plan_alltoall, tells, hears);
    if (!error && !refused) error = judge(heard, own.weighted);
    if (refused) {
        error.discard();
        return refused;
    }
    if (error) return error;
    for (const EdgeSum &sum : heard) hearing.push_back(sum.edges);
    std::vector<EdgeNews> in(static_cast<size_t>(std::reduce(hearing.begin(), hearing.end())));
    Blocks sent(telling, sizeof(EdgeNews)), received(hearing, sizeof(EdgeNews));
    if ((error = blocking(executor, parent.team, kind, plan_alltoallv, sent.of(out.data()),
                          received.of(in.data()))))
        return error;
    for (const EdgeNews &edge : in) {
        (edge.begins ? own.destinations : own.sources).push_back(edge.other);
        if (own.weighted) (edge.begins ? own.destination_weights : own.source_weights).push_back(edge.weight);
    }
    return {};
}

}  // namespace lanyard
