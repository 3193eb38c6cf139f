// The last rank makes its call late and names itself as the root, so it does not wait for the other ranks.
// It notices the mismatch only in its next call, while the others are in their next calls too. No error is
// fatal. Each rank prints the text of its error, if there is one.
//   mismatch_noticed_later bcast|scatter|reduce BYTES
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    const char *call = argc > 1 ? argv[1] : "";
    int bytes = argc > 2 ? atoi(argv[2]) : 1, rank, size;
    MPI_Comm world;
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    int odd = rank == size - 1, root = odd ? rank : 0;
    char *given = calloc((size_t)size, (size_t)bytes), *got = calloc((size_t)size, (size_t)bytes);
    MPI_Barrier(world);
    if (odd) usleep(200000);
    int code = -1;
    if (!strcmp(call, "bcast")) code = MPI_Bcast(given, bytes, MPI_BYTE, root, world);
    if (!strcmp(call, "scatter"))
        code = MPI_Scatter(given, bytes, MPI_BYTE, got, bytes, MPI_BYTE, root, world);
    if (!strcmp(call, "reduce")) code = MPI_Reduce(given, got, bytes, MPI_SIGNED_CHAR, MPI_SUM, root, world);
    if (code == -1) {
        fprintf(stderr, "mismatch_noticed_later: no call \"%s\"\n", call);
        MPI_Abort(MPI_COMM_WORLD, 99);
    }
    if (!code) code = MPI_Barrier(world);
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code) {
        MPI_Error_string(code, text, &length);
        printf("%d: %s\n", rank, text);
        fflush(stdout);
    }
    MPI_Finalize();
    free(given);
    free(got);
    return 0;
}
