// The ranks do not create the same communicators or persistent operations, or do not agree in operations
// between two groups. The last rank makes another call than the other ranks. Each rank prints the class and
// text of its error. A rank that has finished its part before the mismatch is noticed has no error.
//   mismatch_making SCENARIO [return]     with `return`, no error is fatal
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 64 };

static int rank, size, odd, returned;
static int given, got[most];
static MPI_Comm world, made;

static int ring(MPI_Comm *grid) {
    int around = 1;
    return MPI_Cart_create(world, 1, &size, &around, 0, grid);
}

static int line(MPI_Comm *graph) {  // creates a graph with an edge from each rank to the next
    int index[most], edges[most];
    for (int r = 0; r < size; ++r) {
        index[r] = r + 1;
        edges[r] = (r + 1) % size;
    }
    return MPI_Graph_create(world, size, index, edges, 0, graph);
}

static int adjacent(MPI_Comm *graph) {
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    return MPI_Dist_graph_create_adjacent(world, 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED,
                                          MPI_INFO_NULL, 0, graph);
}

static int distributed(MPI_Comm *graph) {
    int next = (rank + 1) % size, one = 1;
    return MPI_Dist_graph_create(world, 1, &rank, &one, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, graph);
}

static int all_of_world(MPI_Comm *comm) {
    MPI_Group group;
    MPI_Comm_group(world, &group);
    int code = MPI_Comm_create(world, group, comm);
    MPI_Group_free(&group);
    return code;
}

static int nonblocking_dup(void) {
    MPI_Request request;
    int code = MPI_Comm_idup(world, &made, &request);
    return code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int make(const char *scenario) {
    if (!strcmp(scenario, "dup-barrier")) return odd ? MPI_Barrier(world) : MPI_Comm_dup(world, &made);
    if (!strcmp(scenario, "idup-sum"))
        return odd ? MPI_Allreduce(&given, got, 1, MPI_INT, MPI_SUM, world) : nonblocking_dup();
    if (!strcmp(scenario, "split-bcast"))
        return odd ? MPI_Bcast(got, 1, MPI_INT, 0, world) : MPI_Comm_split(world, 0, 0, &made);
    if (!strcmp(scenario, "split-type"))
        return odd ? MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made)
                   : MPI_Comm_split(world, 0, 0, &made);
    if (!strcmp(scenario, "split-dup"))
        return odd ? MPI_Comm_dup(world, &made) : MPI_Comm_split(world, 0, 0, &made);
    if (!strcmp(scenario, "create-gather"))
        return odd ? MPI_Gather(&given, 1, MPI_INT, got, 1, MPI_INT, 0, world) : all_of_world(&made);
    if (!strcmp(scenario, "cart-dup")) return odd ? MPI_Comm_dup(world, &made) : ring(&made);
    if (!strcmp(scenario, "cart-graph")) return odd ? line(&made) : ring(&made);
    if (!strcmp(scenario, "graphs")) return odd ? adjacent(&made) : distributed(&made);
    if (!strcmp(scenario, "adjacent-split"))
        return odd ? adjacent(&made) : MPI_Comm_split(world, 0, 0, &made);
    return -1;
}

// The last rank creates a different persistent operation from the others, or makes another call.
static int make_persistent(const char *scenario) {
    MPI_Request request;
    int code;
    if (odd && !strcmp(scenario, "init-call"))
        return MPI_Gather(&given, 1, MPI_INT, got, 1, MPI_INT, 0, world);
    if (odd && !strcmp(scenario, "init-root"))
        code = MPI_Reduce_init(&given, got, 1, MPI_INT, MPI_MAX, size - 1, world, MPI_INFO_NULL, &request);
    else if (odd && !strcmp(scenario, "init-kind"))
        code = MPI_Gather_init(&given, 1, MPI_INT, got, 1, MPI_INT, 0, world, MPI_INFO_NULL, &request);
    else
        code = MPI_Reduce_init(&given, got, 1, MPI_INT, MPI_MAX, 0, world, MPI_INFO_NULL, &request);
    if (code) return code;
    code = MPI_Start(&request);
    if (!code) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    return code;
}

// Calls operations on an intercommunicator. One group is rank 0, the other group all other ranks.
// Rank 0 is the root.
static int between_groups(const char *scenario) {
    MPI_Comm part, both;
    MPI_Comm_split(world, rank == 0, rank, &part);
    MPI_Intercomm_create(part, 0, world, rank == 0 ? 1 : 0, 7, &both);
    MPI_Comm_free(&part);
    if (returned) MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
    int root = rank == 0 ? MPI_ROOT : 0, code;
    if (!strcmp(scenario, "inter-call"))
        code = odd ? MPI_Barrier(both) : MPI_Allreduce(&given, got, 1, MPI_INT, MPI_SUM, both);
    else if (!strcmp(scenario, "inter-reduction"))
        code = MPI_Allreduce(&given, got, 1, MPI_INT, odd ? MPI_MAX : MPI_SUM, both);
    else if (!strcmp(scenario, "inter-count"))
        code = MPI_Bcast(got, odd ? 2 : 1, MPI_INT, root, both);
    else if (!strcmp(scenario, "inter-root"))
        code = MPI_Reduce(&given, got, 1, MPI_INT, MPI_SUM, odd && size > 2 ? MPI_ROOT : root, both);
    else if (!strcmp(scenario, "inter-merge"))
        code = odd ? MPI_Comm_dup(both, &made) : MPI_Intercomm_merge(both, 0, &made);
    else
        return -1;
    return code;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    const char *scenario = argc > 1 ? argv[1] : "";
    returned = argc > 2 && !strcmp(argv[2], "return");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    odd = rank == size - 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    if (returned) MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    made = MPI_COMM_NULL;
    int code = make(scenario);
    if (code == -1 && !strncmp(scenario, "init-", 5)) code = make_persistent(scenario);
    if (code == -1 && !strncmp(scenario, "inter-", 6)) code = between_groups(scenario);
    if (code == -1) {
        fprintf(stderr, "mismatch_making: no scenario \"%s\"\n", scenario);
        MPI_Abort(MPI_COMM_WORLD, 99);
    }
    char text[MPI_MAX_ERROR_STRING] = "";
    int class = 0, length;
    if (code) {
        MPI_Error_class(code, &class);
        MPI_Error_string(code, text, &length);
    }
    printf("%d of class %d: %s\n", rank, class, text);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
