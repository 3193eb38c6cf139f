// Tests the errors of virtual topologies. Each call must report the right class and message, and the
// communicators must remain usable.
#include <climits>
#include <vector>

#include "topology/check.h"

namespace {

using List = std::vector<int>;

int *const unweighted = MPI_UNWEIGHTED;

void dims_errors() {
    int two[2] = {0, 0}, fixed[3] = {0, 2, 0};
    // These calls have no communicator, so errors are reported to the error handler of MPI_COMM_SELF.
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    check_error(MPI_Dims_create(7, 3, fixed), MPI_ERR_DIMS, "no multiple");
    fixed[0] = fixed[1] = fixed[2] = 1;
    check_error(MPI_Dims_create(2, 3, fixed), MPI_ERR_DIMS, "no element of dims is 0");
    fixed[1] = -4;
    check_error(MPI_Dims_create(2, 3, fixed), MPI_ERR_DIMS, "dims[1] is -4");
    check_error(MPI_Dims_create(0, 2, two), MPI_ERR_ARG, "nnodes is 0");
    check_error(MPI_Dims_create(2, -1, two), MPI_ERR_DIMS, "ndims is -1");
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

void grid_errors(MPI_Comm comm, int size) {
    int dims[2] = {1, 1}, periods[2] = {0, 1}, coords[2], a = 0, b = 0;
    MPI_Comm made, line;
    check_error(MPI_Cart_create(comm, -1, dims, periods, 0, &made), MPI_ERR_DIMS, "ndims is -1");
    check_error(MPI_Cart_create(comm, 2, nullptr, periods, 0, &made), MPI_ERR_ARG, "dims is a null pointer");
    dims[1] = 0;
    check_error(MPI_Cart_create(comm, 2, dims, periods, 0, &made), MPI_ERR_DIMS, "dims[1] is 0");
    check_error(MPI_Cart_map(comm, 2, dims, periods, &a), MPI_ERR_DIMS, "dims[1] is 0");
    dims[0] = 2;
    dims[1] = size;
    check_error(MPI_Cart_create(comm, 2, dims, periods, 0, &made), MPI_ERR_DIMS,
                "a grid of 2 x " + std::to_string(size) + " has more places");
    dims[0] = dims[1] = INT_MAX;
    check_error(MPI_Cart_create(comm, 2, dims, periods, 0, &made), MPI_ERR_DIMS, "more places");
    for (int code : {MPI_Cartdim_get(comm, &a), MPI_Cart_get(comm, 2, dims, periods, coords),
                     MPI_Cart_rank(comm, coords, &a), MPI_Cart_coords(comm, 0, 2, coords),
                     MPI_Cart_shift(comm, 0, 1, &a, &b), MPI_Cart_sub(comm, periods, &made)})
        check_error(code, MPI_ERR_TOPOLOGY, "no topology, not even a Cartesian one");

    dims[0] = size;
    dims[1] = 1;
    MPI_Cart_create(comm, 2, dims, periods, 0, &line);
    coords[0] = size;
    coords[1] = 77;
    check_error(MPI_Cart_rank(line, coords, &a), MPI_ERR_ARG, "coords[0] is " + std::to_string(size));
    check_error(MPI_Cart_rank(line, nullptr, &a), MPI_ERR_ARG, "coords is a null pointer");
    check_error(MPI_Cart_coords(line, size, 2, coords), MPI_ERR_RANK, "rank is " + std::to_string(size));
    check_error(MPI_Cart_coords(line, MPI_PROC_NULL, 2, coords), MPI_ERR_RANK, "MPI_PROC_NULL");
    check_error(MPI_Cart_coords(line, 0, 1, coords), MPI_ERR_DIMS, "maxdims is 1 but there are 2");
    check_error(MPI_Cart_get(line, 1, dims, periods, coords), MPI_ERR_DIMS, "maxdims is 1 but there are 2");
    check_error(MPI_Cart_shift(line, 2, 1, &a, &b), MPI_ERR_DIMS,
                "direction is 2 but the topology has 2 dimensions");
    check_error(MPI_Cart_shift(line, -1, 1, &a, &b), MPI_ERR_DIMS, "direction is -1");
    check_error(MPI_Cart_sub(line, nullptr, &made), MPI_ERR_ARG, "remain_dims is a null pointer");
    check_error(MPI_Graphdims_get(line, &a, &b), MPI_ERR_TOPOLOGY,
                "another topology than a graph made with MPI_Graph_create");
    check_error(MPI_Dist_graph_neighbors_count(line, &a, &b, &a), MPI_ERR_TOPOLOGY,
                "another topology than a distributed graph");
    MPI_Comm_free(&line);
}

void graph_errors(MPI_Comm comm, int size) {
    List index(static_cast<size_t>(size) + 1, 1);
    int edges[2] = {0, 0}, a = 0, b = 0;
    MPI_Comm made, loop;
    check_error(MPI_Graph_create(comm, -1, index.data(), edges, 0, &made), MPI_ERR_ARG, "nnodes is -1");
    check_error(MPI_Graph_create(comm, size + 1, index.data(), edges, 0, &made), MPI_ERR_ARG,
                "more than the communicator has ranks");
    check_error(MPI_Graph_create(comm, 1, index.data(), nullptr, 0, &made), MPI_ERR_ARG,
                "edges is a null pointer");
    edges[0] = size;
    check_error(MPI_Graph_create(comm, size, index.data(), edges, 0, &made), MPI_ERR_RANK,
                "edges[0] is " + std::to_string(size));
    check_error(MPI_Graph_map(comm, size, index.data(), edges, &a), MPI_ERR_RANK,
                "edges[0] is " + std::to_string(size));
    index[0] = -1;
    check_error(MPI_Graph_create(comm, 1, index.data(), edges, 0, &made), MPI_ERR_ARG, "indx[0] is -1");
    for (int code : {MPI_Graphdims_get(comm, &a, &b), MPI_Graph_get(comm, 1, 1, &a, &b),
                     MPI_Graph_neighbors_count(comm, 0, &a), MPI_Graph_neighbors(comm, 0, 1, &a)})
        check_error(code, MPI_ERR_TOPOLOGY, "no topology, not even a graph");

    index[0] = 1;
    edges[0] = 0;
    MPI_Graph_create(comm, size, index.data(), edges, 0, &loop);
    check_error(MPI_Graph_get(loop, 0, 1, &a, &b), MPI_ERR_ARG,
                "maxindex is 0 but there are " + std::to_string(size));
    check_error(MPI_Graph_get(loop, size, 0, index.data(), &b), MPI_ERR_ARG, "maxedges is 0 but there are 1");
    check_error(MPI_Graph_neighbors_count(loop, size, &a), MPI_ERR_RANK, "rank is");
    check_error(MPI_Graph_neighbors(loop, MPI_ANY_SOURCE, 1, &a), MPI_ERR_RANK,
                "rank may not be MPI_ANY_SOURCE");
    check_error(MPI_Graph_neighbors(loop, 0, 0, &a), MPI_ERR_ARG, "maxneighbors is 0 but there are 1");
    check_error(MPI_Cartdim_get(loop, &a), MPI_ERR_TOPOLOGY, "another topology than a Cartesian one");
    MPI_Comm_free(&loop);
}

void distributed_errors(MPI_Comm comm, int size) {
    int zero = 0, one = 1, beyond = size, negative = -9, a = 0, b = 0;
    MPI_Comm made;
    auto adjacent = [&](const int *source, const int *weight, const int *destination,
                        const int *other_weight) {
        return MPI_Dist_graph_create_adjacent(comm, 1, source, weight, 1, destination, other_weight,
                                              MPI_INFO_NULL, 0, &made);
    };
    check_error(adjacent(&beyond, unweighted, &zero, unweighted), MPI_ERR_RANK,
                "sources[0] is " + std::to_string(size));
    check_error(adjacent(&zero, unweighted, &negative, unweighted), MPI_ERR_RANK, "destinations[0] is -9");
    check_error(adjacent(&zero, &negative, &zero, &one), MPI_ERR_ARG, "sourceweights[0] is -9");
    check_error(adjacent(&zero, &one, &zero, unweighted), MPI_ERR_ARG,
                "one of sourceweights and destweights is MPI_UNWEIGHTED");
    check_error(adjacent(&zero, &one, &zero, MPI_WEIGHTS_EMPTY), MPI_ERR_ARG,
                "destweights is MPI_WEIGHTS_EMPTY but there are 1 edges");
    check_error(adjacent(&zero, nullptr, &zero, &one), MPI_ERR_ARG, "sourceweights is a null pointer");
    check_error(MPI_Dist_graph_create_adjacent(comm, -1, &zero, unweighted, 0, &zero, unweighted,
                                               MPI_INFO_NULL, 0, &made),
                MPI_ERR_ARG, "indegree is -1");
    check_error(MPI_Dist_graph_neighbors_count(comm, &a, &b, &a), MPI_ERR_TOPOLOGY,
                "not even a distributed graph");
    check_error(MPI_Dist_graph_neighbors(comm, 0, &a, &b, 0, &a, &b), MPI_ERR_TOPOLOGY,
                "not even a distributed graph");

    // Only the last rank passes wrong arguments. It must report which arguments, and all other ranks must
    // report that the last rank did so.
    bool last = rank_in(comm) == size - 1;
    auto general = [&](const int *source, const int *degree, const int *destination, const int *weight) {
        return MPI_Dist_graph_create(comm, 1, source, degree, destination, weight, MPI_INFO_NULL, 0, &made);
    };
    std::string other = "rank " + std::to_string(size - 1) + " of the communicator gave wrong arguments";
    check_error(general(&zero, &one, last ? &beyond : &zero, &one), last ? MPI_ERR_RANK : MPI_ERR_ARG,
                last ? "destinations[0] is" : other);
    check_error(general(last ? &beyond : &zero, &one, &zero, &one), last ? MPI_ERR_RANK : MPI_ERR_ARG,
                last ? "sources[0] is" : other);
    check_error(general(&zero, last ? &negative : &one, &zero, &one), MPI_ERR_ARG,
                last ? "degrees[0] is -9" : other);
    check_error(general(&zero, &one, last ? nullptr : &zero, unweighted), MPI_ERR_ARG,
                last ? "destinations is a null pointer" : other);
    check_error(general(&zero, &one, &zero, last ? &negative : &one), MPI_ERR_ARG,
                last ? "weights[0] is -9" : other);
    if (size > 1)
        check_error(general(&zero, &one, &zero, last ? unweighted : &one), MPI_ERR_ARG,
                    "gives MPI_UNWEIGHTED but rank");
    use(comm);
}

// Passes negative counts and missing arrays to collectives with blocks of different lengths on a ring.
void neighbor_errors(MPI_Comm comm, int size) {
    int periodic = 1, zeros[2] = {0, 0}, ones[2] = {1, 1}, negative[2] = {-1, 1}, data[2] = {},
        received[2] = {};
    MPI_Aint bytes[2] = {0, 4};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Comm ring;
    MPI_Request request;
    MPI_Cart_create(comm, 1, &size, &periodic, 0, &ring);
    for (const int *wrong : {static_cast<const int *>(negative), static_cast<const int *>(nullptr)}) {
        int error = wrong ? MPI_ERR_COUNT : MPI_ERR_ARG;
        check_error(MPI_Neighbor_allgatherv(data, 1, MPI_INT, received, wrong, zeros, MPI_INT, ring), error,
                    "recvcounts");
        check_error(
            MPI_Ineighbor_allgatherv(data, 1, MPI_INT, received, wrong, zeros, MPI_INT, ring, &request),
            error, "recvcounts");
        check_error(MPI_Neighbor_allgatherv_init(data, 1, MPI_INT, received, wrong, zeros, MPI_INT, ring,
                                                 MPI_INFO_NULL, &request),
                    error, "recvcounts");
        check_error(MPI_Neighbor_alltoallv(data, wrong, zeros, MPI_INT, received, ones, zeros, MPI_INT, ring),
                    error, "sendcounts");
        check_error(MPI_Neighbor_alltoallv(data, ones, zeros, MPI_INT, received, wrong, zeros, MPI_INT, ring),
                    error, "recvcounts");
        check_error(MPI_Ineighbor_alltoallv(data, wrong, zeros, MPI_INT, received, ones, zeros, MPI_INT, ring,
                                            &request),
                    error, "sendcounts");
        check_error(MPI_Neighbor_alltoallv_init(data, ones, zeros, MPI_INT, received, wrong, zeros, MPI_INT,
                                                ring, MPI_INFO_NULL, &request),
                    error, "recvcounts");
        check_error(MPI_Neighbor_alltoallw(data, wrong, bytes, types, received, ones, bytes, types, ring),
                    error, "sendcounts");
        check_error(
            MPI_Ineighbor_alltoallw(data, ones, bytes, types, received, wrong, bytes, types, ring, &request),
            error, "recvcounts");
        check_error(MPI_Neighbor_alltoallw_init(data, wrong, bytes, types, received, ones, bytes, types, ring,
                                                MPI_INFO_NULL, &request),
                    error, "sendcounts");
    }
    check_error(MPI_Neighbor_allgatherv(data, 1, MPI_INT, received, ones, nullptr, MPI_INT, ring),
                MPI_ERR_ARG, "displs is a null pointer");
    check_error(MPI_Neighbor_alltoallv(data, ones, nullptr, MPI_INT, received, ones, zeros, MPI_INT, ring),
                MPI_ERR_ARG, "sdispls is a null pointer");
    check_error(MPI_Neighbor_alltoallw(data, ones, bytes, types, received, ones, nullptr, types, ring),
                MPI_ERR_ARG, "rdispls is a null pointer");
    use(ring);
    MPI_Comm_free(&ring);
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int size = size_of(MPI_COMM_WORLD);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    dims_errors();
    grid_errors(comm, size);
    graph_errors(comm, size);
    distributed_errors(comm, size);
    neighbor_errors(comm, size);
    MPI_Comm_free(&comm);
    MPI_Finalize();
}
