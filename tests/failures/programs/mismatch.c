// The ranks do not call the same collective operations. The last rank is called the odd rank. It makes
// another call than the other ranks.
//   mismatch SCENARIO [BYTES]
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void sum_too(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)in, (void)inout, (void)count, (void)type;
}

// Exchanges blocks with the functions that take a count for each block. All blocks have the same
// length on all ranks.
static void exchange_uneven(int odd, const char *a, char *b, int count, int size) {
    int counts[64], displacements[64];
    for (int r = 0; r < size; ++r) {
        counts[r] = count;
        displacements[r] = r * count;
    }
    if (odd)
        MPI_Allgatherv(a, count, MPI_SIGNED_CHAR, b, counts, displacements, MPI_SIGNED_CHAR, MPI_COMM_WORLD);
    else
        MPI_Alltoallv(a, counts, displacements, MPI_SIGNED_CHAR, b, counts, displacements, MPI_SIGNED_CHAR,
                      MPI_COMM_WORLD);
}

static void exchange_with_neighbors(int odd, const char *a, char *b, int count, int size) {
    int around = 1;
    MPI_Comm ring;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &around, 0, &ring);
    if (odd) MPI_Neighbor_allgather(a, count, MPI_SIGNED_CHAR, b, count, MPI_SIGNED_CHAR, ring);
    else MPI_Neighbor_alltoall(a, count, MPI_SIGNED_CHAR, b, count, MPI_SIGNED_CHAR, ring);
    MPI_Comm_free(&ring);
}

// Runs one of the less common scenarios. Returns false if there is none of this name.
static int less_common(const char *scenario, int odd, char *a, char *b, int count) {
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(scenario, "scatter")) {
        MPI_Scatter(a, count, MPI_SIGNED_CHAR, b, odd ? count + 1 : count, MPI_SIGNED_CHAR, 0,
                    MPI_COMM_WORLD);
    } else if (!strcmp(scenario, "scatter-root")) {
        MPI_Scatter(a, count, MPI_SIGNED_CHAR, b, count, MPI_SIGNED_CHAR, odd ? rank : 0, MPI_COMM_WORLD);
    } else if (!strcmp(scenario, "uneven")) {
        exchange_uneven(odd, a, b, count, size);
    } else if (!strcmp(scenario, "scan")) {
        if (odd) MPI_Exscan(a, b, count, MPI_SIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
        else MPI_Scan(a, b, count, MPI_SIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
    } else if (!strcmp(scenario, "reduce-scatter")) {
        MPI_Reduce_scatter_block(a, b, count, MPI_SIGNED_CHAR, odd ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
    } else if (!strcmp(scenario, "alone")) {  // equal calls first; the first and the last rank only send
        for (int i = 0; i < 4; ++i) {
            if (i == 3 && odd) continue;
            MPI_Bcast(a, count, MPI_SIGNED_CHAR, 0, MPI_COMM_WORLD);
        }
        for (int i = 0; i < 3 + odd; ++i)
            MPI_Gather(a, count, MPI_SIGNED_CHAR, b, count, MPI_SIGNED_CHAR, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(scenario, "neighbors")) {
        exchange_with_neighbors(odd, a, b, count, size);
    } else {
        return 0;
    }
    return 1;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    const char *scenario = argc > 1 ? argv[1] : "";
    int count = argc > 2 ? atoi(argv[2]) : 1;
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int odd = rank == size - 1;
    char *a = calloc((size_t)size, 2 * (size_t)count + 2), *b = calloc((size_t)size, 2 * (size_t)count + 2);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(scenario, "operation")) {
        if (odd) MPI_Allreduce(a, b, count, MPI_SIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
        else MPI_Bcast(a, count, MPI_SIGNED_CHAR, 0, MPI_COMM_WORLD);
    } else if (!strcmp(scenario, "barrier")) {
        if (odd) MPI_Barrier(MPI_COMM_WORLD);
        else MPI_Allgather(a, count, MPI_SIGNED_CHAR, b, count, MPI_SIGNED_CHAR, MPI_COMM_WORLD);
    } else if (!strcmp(scenario, "root")) {
        MPI_Bcast(a, count, MPI_SIGNED_CHAR, odd ? rank : 0, MPI_COMM_WORLD);
    } else if (!strcmp(scenario, "reduce-root")) {
        MPI_Reduce(a, b, count, MPI_SIGNED_CHAR, MPI_SUM, odd ? rank : 0, MPI_COMM_WORLD);
    } else if (!strcmp(scenario, "reduction")) {
        MPI_Op own;
        MPI_Op_create(sum_too, 1, &own);
        MPI_Allreduce(a, b, count, MPI_SIGNED_CHAR, odd ? own : MPI_MAX, MPI_COMM_WORLD);
    } else if (!strcmp(scenario, "more")) {  // the odd rank passes a larger count
        MPI_Bcast(a, odd ? 2 * count : count, MPI_SIGNED_CHAR, 0, MPI_COMM_WORLD);
    } else if (!strcmp(scenario, "fewer")) {  // the odd rank passes a smaller count
        MPI_Allreduce(a, b, odd ? count : 2 * count, MPI_SIGNED_CHAR, MPI_MAX, MPI_COMM_WORLD);
    } else if (!strcmp(scenario, "gather")) {
        MPI_Gather(a, odd ? count + 1 : count, MPI_SIGNED_CHAR, b, count, MPI_SIGNED_CHAR, 0, MPI_COMM_WORLD);
    } else if (!strcmp(scenario, "gatherv")) {  // the receiver notices the message's length
        int counts[64], displacements[64];
        for (int r = 0; r < size; ++r) {
            counts[r] = count + 1;
            displacements[r] = r * (count + 1);
        }
        MPI_Gatherv(a, odd ? count : count + 1, MPI_SIGNED_CHAR, b, counts, displacements, MPI_SIGNED_CHAR, 0,
                    MPI_COMM_WORLD);
    } else if (!strcmp(scenario, "sequence")) {  // the odd rank makes the same two calls in another order
        if (odd) MPI_Allreduce(a, b, count, MPI_SIGNED_CHAR, MPI_MAX, MPI_COMM_WORLD);
        MPI_Alltoall(a, count, MPI_SIGNED_CHAR, b, count, MPI_SIGNED_CHAR, MPI_COMM_WORLD);
        if (!odd) MPI_Allreduce(a, b, count, MPI_SIGNED_CHAR, MPI_MAX, MPI_COMM_WORLD);
    } else if (!strcmp(scenario, "nonblocking")) {
        MPI_Request request;
        if (odd)
            MPI_Iallgather(a, count, MPI_SIGNED_CHAR, b, count, MPI_SIGNED_CHAR, MPI_COMM_WORLD, &request);
        else MPI_Iallreduce(a, b, count, MPI_SIGNED_CHAR, MPI_MAX, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (!strcmp(scenario, "finalize")) {  // the odd rank calls MPI_Finalize too early
        if (!odd) MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(scenario, "finalize-sum")) {
        if (!odd) MPI_Allreduce(a, b, count, MPI_SIGNED_CHAR, MPI_MAX, MPI_COMM_WORLD);
    } else if (!less_common(scenario, odd, a, b, count)) {
        fprintf(stderr, "mismatch: no scenario \"%s\"\n", scenario);
        MPI_Abort(MPI_COMM_WORLD, 99);
    }
    MPI_Finalize();
    free(a);
    free(b);
    return 0;
}
