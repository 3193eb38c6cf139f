// Defines the typed functions (types.h) of virtual topologies (MPI-5.0 chapter 8). The collective functions
// show a wait record (creating.h) while they wait for other ranks.
// Tested by: tests/mpi/topology/topologies.cc, tests/mpi/topology/errors.cc.
#include "comm/topology.h"

#include <algorithm>
#include <string>

#include "api/check.h"
#include "api/creating.h"
#include "api/generated/core.h"
#include "comm/dims.h"

namespace lanyard {

namespace {

Error check_intra(const Comm &comm) {
    return comm.remote_group ? Error(ErrorClass::comm,
                                     "the communicator is an intercommunicator, which cannot get a topology")
                             : Error();
}

// Finds the topology of a communicator. Returns an error if it does not have the form that the call
// requires.
template <class Form>
Error find_form(const Comm &comm, const char *noun, const Form *&form) {
    form = comm.topology ? std::get_if<Form>(&comm.topology->form) : nullptr;
    if (form) return {};
    const char *has = comm.topology ? "the communicator has another topology than "
                                    : "the communicator has no topology, not even ";
    return {ErrorClass::topology, has + std::string(noun)};
}
Error find(const Comm &comm, const Grid *&grid) { return find_form(comm, "a Cartesian one", grid); }
Error find(const Comm &comm, const Graph *&graph) {
    return find_form(comm, "a graph made with MPI_Graph_create", graph);
}
Error find(const Comm &comm, const DistributedGraph *&graph) {
    return find_form(comm, "a distributed graph", graph);
}

// Checks that an array of the program has room for all elements of a list.
Error check_room(const char *name, int room, size_t needed, ErrorClass error_class) {
    if (static_cast<size_t>(room) >= needed) return {};
    return {error_class,
            std::string(name) + " is " + std::to_string(room) + " but there are " + std::to_string(needed)};
}

Error check_rank(const char *name, int rank, const Comm &comm) {
    return in_group(rank, comm) ? Error() : complaint::bad_rank(name, rank, comm, ErrorClass::rank);
}

Error read_grid(const Comm &comm, int ndims, const int *dims, const int *periods, Grid &grid) {
    if (Error error = check_intra(comm)) return error;
    grid.dims.assign(dims, dims + ndims);
    for (int d = 0; d < ndims; ++d) grid.periodic.push_back(periods[d] != 0);
    return check_grid(grid, comm.size);
}

// ---- lists of neighbours as the program passes them
std::string element(const char *array, int i) { return std::string(array) + "[" + std::to_string(i) + "]"; }

bool gives_weights(const int *weights) { return weights && !unweighted(weights) && !no_weights(weights); }

Error check_ranks(const char *name, const int *ranks, int count, const Comm &comm) {
    if (count > 0 && !ranks) return complaint::null_pointer(name, ErrorClass::arg);
    for (int i = 0; i < count; ++i)
        if (!in_group(ranks[i], comm))
            return complaint::bad_rank(element(name, i).c_str(), ranks[i], comm, ErrorClass::rank);
    return {};
}

Error check_weights(const char *name, const int *weights, int count) {
    if (count == 0 || unweighted(weights)) return {};
    if (!weights) return complaint::null_pointer(name, ErrorClass::arg);
    if (no_weights(weights))
        return {ErrorClass::arg, std::string(name) + " is MPI_WEIGHTS_EMPTY but there are " +
                                     std::to_string(count) + " edges"};
    for (int i = 0; i < count; ++i)
        if (weights[i] < 0) return complaint::negative(element(name, i).c_str(), weights[i], ErrorClass::arg);
    return {};
}

// Finds out whether the edges have weights. A process must pass weights for its sources and also for its
// destinations, or no weights at all. A side without edges does not count.
Error find_weighted(int indegree, const int *sourceweights, int outdegree, const int *destweights,
                    bool &weighted) {
    bool in = !unweighted(sourceweights), out = !unweighted(destweights);
    if (indegree > 0 && outdegree > 0 && in != out)
        return {ErrorClass::arg,
                "one of sourceweights and destweights is MPI_UNWEIGHTED and the other is not"};
    weighted = indegree > 0 ? in : outdegree > 0 ? out : in && out;
    return {};
}

std::vector<int> list_of(const int *values, int count) {
    return count > 0 ? std::vector<int>(values, values + count) : std::vector<int>();
}

// Turns the arguments of MPI_Dist_graph_create into a list of edges. The i-th of the `n` sources has
// `degrees[i]` destinations.
Error read_edges(const Comm &comm, int n, const int *sources, const int *degrees, const int *destinations,
                 const int *weights, std::vector<NamedEdge> &edges) {
    int64_t count = 0;
    for (int i = 0; i < n; ++i) {
        if (degrees[i] < 0)
            return complaint::negative(element("degrees", i).c_str(), degrees[i], ErrorClass::arg);
        count += degrees[i];
    }
    if (count > INT32_MAX)
        return {ErrorClass::arg,
                "degrees sum up to " + std::to_string(count) + " edges; one process can name 2147483647"};
    if (Error error = check_ranks("sources", sources, n, comm)) return error;
    if (Error error = check_ranks("destinations", destinations, static_cast<int>(count), comm)) return error;
    if (Error error = check_weights("weights", weights, static_cast<int>(count))) return error;
    for (int i = 0, next = 0; i < n; ++i)
        for (int k = 0; k < degrees[i]; ++k, ++next)
            edges.push_back({sources[i], destinations[next], gives_weights(weights) ? weights[next] : 1});
    return {};
}

void give(const std::vector<int> &values, int *array, int room) {
    std::copy_n(values.begin(), std::min(values.size(), static_cast<size_t>(room)), array);
}

}  // namespace

extern "C" {

Error lanyard_topo_test(Comm &comm, int *status) {
    constexpr int values[] = {abi::cart, abi::graph, abi::dist_graph};  // in the order of Topology::form
    *status = comm.topology ? values[comm.topology->form.index()] : abi::undefined;
    return {};
}

// ---- Cartesian

Error lanyard_dims_create(int nnodes, int ndims, int *dims) {
    return balance_dims(nnodes, {dims, static_cast<size_t>(ndims)});
}

Error lanyard_cart_create(Comm &comm_old, int ndims, const int *dims, const int *periods, int reorder,
                          Comm **comm_cart) {
    Grid grid;
    if (Error error = read_grid(comm_old, ndims, dims, periods, grid)) return error;
    Creating creating("MPI_Cart_create", &comm_old, abi::undefined, abi::undefined,
                      comm_old.team.sequence + 1);
    return create_grid(comm_old, grid, reorder != 0, *comm_cart);
}

Error lanyard_cart_map(Comm &comm, int ndims, const int *dims, const int *periods, int *newrank) {
    Grid grid;
    if (Error error = read_grid(comm, ndims, dims, periods, grid)) return error;
    *newrank = rank_in_grid(comm, grid);
    return {};
}

Error lanyard_cart_sub(Comm &comm, const int *remain_dims, Comm **newcomm) {
    const Grid *grid = nullptr;
    if (Error error = find(comm, grid)) return error;
    if (!grid->dims.empty() && !remain_dims) return complaint::null_pointer("remain_dims", ErrorClass::arg);
    Creating creating("MPI_Cart_sub", &comm, abi::undefined, abi::undefined, comm.team.sequence + 1);
    return split_grid(comm, remain_dims, *newcomm);
}

Error lanyard_cartdim_get(Comm &comm, int *ndims) {
    const Grid *grid = nullptr;
    if (Error error = find(comm, grid)) return error;
    *ndims = static_cast<int>(grid->dims.size());
    return {};
}

Error lanyard_cart_get(Comm &comm, int maxdims, int *dims, int *periods, int *coords) {
    const Grid *grid = nullptr;
    if (Error error = find(comm, grid)) return error;
    if (Error error = check_room("maxdims", maxdims, grid->dims.size(), ErrorClass::dims)) return error;
    give(grid->dims, dims, maxdims);
    give(grid->periodic, periods, maxdims);
    give(grid->coords_of(comm.rank), coords, maxdims);
    return {};
}

Error lanyard_cart_rank(Comm &comm, const int *coords, int *rank) {
    const Grid *grid = nullptr;
    if (Error error = find(comm, grid)) return error;
    if (!grid->dims.empty() && !coords) return complaint::null_pointer("coords", ErrorClass::arg);
    for (size_t d = 0; d < grid->dims.size(); ++d)
        if (!grid->periodic[d] && (coords[d] < 0 || coords[d] >= grid->dims[d]))
            return {ErrorClass::arg, "coords[" + std::to_string(d) + "] is " + std::to_string(coords[d]) +
                                         " but must be from 0 to " + std::to_string(grid->dims[d] - 1) +
                                         ", as the dimension is not periodic"};
    *rank = grid->rank_at(list_of(coords, static_cast<int>(grid->dims.size())));
    return {};
}

Error lanyard_cart_coords(Comm &comm, int rank, int maxdims, int *coords) {
    const Grid *grid = nullptr;
    if (Error error = find(comm, grid)) return error;
    if (Error error = check_rank("rank", rank, comm)) return error;
    if (Error error = check_room("maxdims", maxdims, grid->dims.size(), ErrorClass::dims)) return error;
    give(grid->coords_of(rank), coords, maxdims);
    return {};
}

Error lanyard_cart_shift(Comm &comm, int direction, int disp, int *rank_source, int *rank_dest) {
    const Grid *grid = nullptr;
    if (Error error = find(comm, grid)) return error;
    if (direction < 0 || static_cast<size_t>(direction) >= grid->dims.size())
        return {ErrorClass::dims, "direction is " + std::to_string(direction) + " but the topology has " +
                                      std::to_string(grid->dims.size()) + " dimensions, counted from 0"};
    std::vector<int> coords = grid->coords_of(comm.rank);
    *rank_source = grid->shifted(coords, static_cast<size_t>(direction), -int64_t{disp});
    *rank_dest = grid->shifted(coords, static_cast<size_t>(direction), disp);
    return {};
}

// ---- graph

Error lanyard_graph_create(Comm &comm_old, int nnodes, const int *indx, const int *edges, int reorder,
                           Comm **comm_graph) {
    Graph graph;
    if (Error error = check_intra(comm_old)) return error;
    if (Error error = read_graph(nnodes, indx, edges, comm_old.size, graph)) return error;
    Creating creating("MPI_Graph_create", &comm_old, abi::undefined, abi::undefined,
                      comm_old.team.sequence + 1);
    return create_graph(comm_old, graph, reorder != 0, *comm_graph);
}

Error lanyard_graph_map(Comm &comm, int nnodes, const int *indx, const int *edges, int *newrank) {
    Graph graph;
    if (Error error = check_intra(comm)) return error;
    if (Error error = read_graph(nnodes, indx, edges, comm.size, graph)) return error;
    *newrank = rank_in_graph(comm, graph);
    return {};
}

Error lanyard_graphdims_get(Comm &comm, int *nnodes, int *nedges) {
    const Graph *graph = nullptr;
    if (Error error = find(comm, graph)) return error;
    *nnodes = static_cast<int>(graph->index.size());
    *nedges = static_cast<int>(graph->edges.size());
    return {};
}

Error lanyard_graph_get(Comm &comm, int maxindex, int maxedges, int *indx, int *edges) {
    const Graph *graph = nullptr;
    if (Error error = find(comm, graph)) return error;
    if (Error error = check_room("maxindex", maxindex, graph->index.size(), ErrorClass::arg)) return error;
    if (Error error = check_room("maxedges", maxedges, graph->edges.size(), ErrorClass::arg)) return error;
    give(graph->index, indx, maxindex);
    give(graph->edges, edges, maxedges);
    return {};
}

Error lanyard_graph_neighbors_count(Comm &comm, int rank, int *nneighbors) {
    const Graph *graph = nullptr;
    if (Error error = find(comm, graph)) return error;
    if (Error error = check_rank("rank", rank, comm)) return error;
    *nneighbors = static_cast<int>(graph->neighbors_of(rank).size());
    return {};
}

Error lanyard_graph_neighbors(Comm &comm, int rank, int maxneighbors, int *neighbors) {
    const Graph *graph = nullptr;
    if (Error error = find(comm, graph)) return error;
    if (Error error = check_rank("rank", rank, comm)) return error;
    std::vector<int> list = graph->neighbors_of(rank);
    if (Error error = check_room("maxneighbors", maxneighbors, list.size(), ErrorClass::arg)) return error;
    give(list, neighbors, maxneighbors);
    return {};
}

// ---- distributed graph

Error lanyard_dist_graph_create_adjacent(Comm &comm_old, int indegree, const int *sources,
                                         const int *sourceweights, int outdegree, const int *destinations,
                                         const int *destweights, Info *info, int reorder,
                                         Comm **comm_dist_graph) {
    DistributedGraph own;
    if (Error error = check_intra(comm_old)) return error;
    if (Error error = check_ranks("sources", sources, indegree, comm_old)) return error;
    if (Error error = check_weights("sourceweights", sourceweights, indegree)) return error;
    if (Error error = check_ranks("destinations", destinations, outdegree, comm_old)) return error;
    if (Error error = check_weights("destweights", destweights, outdegree)) return error;
    if (Error error = find_weighted(indegree, sourceweights, outdegree, destweights, own.weighted))
        return error;
    own.sources = list_of(sources, indegree);
    own.destinations = list_of(destinations, outdegree);
    if (own.weighted) own.source_weights = list_of(sourceweights, indegree);
    if (own.weighted) own.destination_weights = list_of(destweights, outdegree);
    Creating creating("MPI_Dist_graph_create_adjacent", &comm_old, abi::undefined, abi::undefined,
                      comm_old.team.sequence + 1);
    return create_distributed(comm_old, CollectiveKind::dist_graph_create_adjacent, std::move(own), info,
                              reorder != 0, *comm_dist_graph);
}

Error lanyard_dist_graph_create(Comm &comm_old, int n, const int *sources, const int *degrees,
                                const int *destinations, const int *weights, Info *info, int reorder,
                                Comm **comm_dist_graph) {
    if (Error error = check_intra(comm_old)) return error;
    std::vector<NamedEdge> edges;
    DistributedGraph own;
    Error refused = read_edges(comm_old, n, sources, degrees, destinations, weights, edges);
    Creating creating("MPI_Dist_graph_create", &comm_old, abi::undefined, abi::undefined,
                      comm_old.team.sequence + 1);
    if (Error error = exchange_edges(comm_old, CollectiveKind::dist_graph_create, edges, !unweighted(weights),
                                     refused, own))
        return error;
    return create_distributed(comm_old, CollectiveKind::dist_graph_create, std::move(own), info, reorder != 0,
                              *comm_dist_graph);
}

Error lanyard_dist_graph_neighbors_count(Comm &comm, int *indegree, int *outdegree, int *weighted) {
    const DistributedGraph *graph = nullptr;
    if (Error error = find(comm, graph)) return error;
    *indegree = static_cast<int>(graph->sources.size());
    *outdegree = static_cast<int>(graph->destinations.size());
    *weighted = graph->weighted;
    return {};
}

// If a list is longer than the program's array, only its first part is returned (MPI-5.0 8.5.5).
Error lanyard_dist_graph_neighbors(Comm &comm, int maxindegree, int *sources, int *sourceweights,
                                   int maxoutdegree, int *destinations, int *destweights) {
    const DistributedGraph *graph = nullptr;
    if (Error error = find(comm, graph)) return error;
    give(graph->sources, sources, maxindegree);
    give(graph->destinations, destinations, maxoutdegree);
    if (gives_weights(sourceweights)) give(graph->source_weights, sourceweights, maxindegree);
    if (gives_weights(destweights)) give(graph->destination_weights, destweights, maxoutdegree);
    return {};
}

}  // extern "C"

}  // namespace lanyard
