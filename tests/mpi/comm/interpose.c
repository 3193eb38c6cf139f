/* Checks that a tool between the program and the library (interposed.c) works. A call of a function that the
 * tool defines must reach the tool. All other calls must reach the library. The library itself must never
 * call the tool. */
#include <mpi.h>
#include <stdio.h>

extern int tool_sends, tool_ranks, tool_sent;

static void check(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "interpose.c: %s\n", what);
    PMPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv) {
    int rank, seen, size, sent[3], got[3] = {0}, sum;
    MPI_Request request;
    MPI_Comm copy;
    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check(tool_ranks == 0, "PMPI_Comm_rank or MPI_Init has called the tool");
    MPI_Comm_rank(MPI_COMM_WORLD, &seen);
    check(seen == rank + 1000 && tool_ranks == 1, "MPI_Comm_rank is not the tool's");

    for (int turn = 1; turn <= 5; ++turn) {
        for (int i = 0; i < 3; ++i) sent[i] = rank * 100 + turn * 10 + i;
        MPI_Irecv(got, 3, MPI_INT, (rank + size - 1) % size, turn, MPI_COMM_WORLD, &request);
        MPI_Send(sent, 3, MPI_INT, (rank + 1) % size, turn, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < 3; ++i)
            check(got[i] == (rank + size - 1) % size * 100 + turn * 10 + i,
                  "a message that the tool passed on is wrong");
    }
    check(tool_sends == 5 && tool_sent == 15, "MPI_Send is not the tool's");

    /* The library must not call the tool's functions inside its own functions. */
    MPI_Sendrecv(sent, 3, MPI_INT, (rank + 1) % size, 9, got, 3, MPI_INT, (rank + size - 1) % size, 9,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
    check(sum == size * (size - 1) / 2, "the sum is wrong");
    PMPI_Irecv(got, 3, MPI_INT, (rank + size - 1) % size, 9, MPI_COMM_WORLD, &request);
    PMPI_Send(sent, 3, MPI_INT, (rank + 1) % size, 9, MPI_COMM_WORLD);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
    check(tool_sends == 5 && tool_ranks == 1, "the library has called the tool");
    MPI_Finalize();
    check(tool_sends == 5 && tool_ranks == 1, "MPI_Finalize has called the tool");
    return 0;
}
