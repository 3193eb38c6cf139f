// See topology.h.
#include "comm/topology.h"

#include <algorithm>
#include <string>
#include <utility>

namespace lanyard {

namespace {

Error wrong(ErrorClass error_class, const char *array, size_t i, int value, const std::string &must) {
    return {error_class, std::string(array) + "[" + std::to_string(i) + "] is " + std::to_string(value) +
                             " but must be " + must};
}

std::string in_words(const std::vector<int> &dims) {
    std::string text;
    for (int dim : dims) text += (text.empty() ? "" : " x ") + std::to_string(dim);
    return text;
}

}  // namespace

int Grid::size() const {
    int places = 1;
    for (int dim : dims) places *= dim;
    return places;
}

std::vector<int> Grid::coords_of(int rank) const {
    std::vector<int> coords(dims.size());
    for (size_t d = dims.size(); d-- > 0; rank /= dims[d]) coords[d] = rank % dims[d];
    return coords;
}

int Grid::rank_at(const std::vector<int> &coords) const {
    int rank = 0;
    for (size_t d = 0; d < dims.size(); ++d) {
        int coord = coords[d];
        if (periodic[d]) coord = (coord % dims[d] + dims[d]) % dims[d];
        else if (coord < 0 || coord >= dims[d]) return abi::proc_null;
        rank = rank * dims[d] + coord;
    }
    return rank;
}

int Grid::shifted(std::vector<int> coords, size_t dimension, int64_t distance) const {
    int64_t coord = coords[dimension] + distance;
    if (periodic[dimension]) coord %= dims[dimension];
    else if (coord < 0 || coord >= dims[dimension]) return abi::proc_null;
    coords[dimension] = static_cast<int>(coord);
    return rank_at(coords);
}

std::vector<int> Graph::neighbors_of(int rank) const {
    auto at = static_cast<size_t>(rank);
    return {edges.begin() + (rank ? index[at - 1] : 0), edges.begin() + index[at]};
}

bool Graph::symmetric() const {
    std::vector<std::pair<int, int>> there, back;
    for (int rank = 0, edge = 0; rank < static_cast<int>(index.size()); ++rank)
        for (; edge < index[static_cast<size_t>(rank)]; ++edge) {
            there.emplace_back(rank, edges[static_cast<size_t>(edge)]);
            back.emplace_back(edges[static_cast<size_t>(edge)], rank);
        }
    std::sort(there.begin(), there.end());
    std::sort(back.begin(), back.end());
    return there == back;
}

Error check_grid(const Grid &grid, int size) {
    int64_t places = 1;
    for (size_t d = 0; d < grid.dims.size(); ++d) {
        if (grid.dims[d] < 1) return wrong(ErrorClass::dims, "dims", d, grid.dims[d], "at least 1");
        places *= grid.dims[d];
        if (places > size)
            return {ErrorClass::dims, "a grid of " + in_words(grid.dims) +
                                          " has more places than the communicator has ranks, which are " +
                                          std::to_string(size)};
    }
    return {};
}

Error read_graph(int nodes, const int *index, const int *edges, int size, Graph &graph) {
    if (nodes < 0)
        return {ErrorClass::arg, "nnodes is " + std::to_string(nodes) + " but must not be negative"};
    if (nodes > size)
        return {ErrorClass::arg, "nnodes is " + std::to_string(nodes) +
                                     ", more than the communicator has ranks, which are " +
                                     std::to_string(size)};
    graph.index.assign(index, index + nodes);
    for (size_t i = 0; i < graph.index.size(); ++i) {
        int before = i ? graph.index[i - 1] : 0;
        if (graph.index[i] < before)
            return wrong(
                ErrorClass::arg, "indx", i, graph.index[i],
                "at least " + std::to_string(before) + ", as it counts the edges of all nodes so far");
    }
    int count = nodes ? graph.index.back() : 0;
    if (count > 0 && !edges)
        return {ErrorClass::arg,
                "edges is a null pointer but indx says that there are " + std::to_string(count)};
    graph.edges.assign(edges, edges + count);
    for (size_t i = 0; i < graph.edges.size(); ++i)
        if (graph.edges[i] < 0 || graph.edges[i] >= nodes)
            return wrong(ErrorClass::rank, "edges", i, graph.edges[i],
                         "a node of the graph, from 0 to " + std::to_string(nodes - 1));
    return {};
}

}  // namespace lanyard
