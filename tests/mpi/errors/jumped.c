/* An error handler leaves the library by longjmp many times. Later calls must work, and it must be possible
 * to free the communicator. */
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>

enum { rounds = 1000 };

static jmp_buf place;

static void handler(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    longjmp(place, 1);
}

int main(int argc, char **argv) {
    MPI_Comm comm;
    MPI_Errhandler made;
    volatile int jumped = 0, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(handler, &made);
    MPI_Comm_set_errhandler(comm, made);
    for (volatile int i = 0; i < rounds; ++i) {
        int size, one = 1, sum = 0;
        MPI_Comm_size(comm, &size);
        if (setjmp(place) == 0) MPI_Send(&one, 1, MPI_INT, size, 0, comm);
        else ++jumped;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        wrong += sum != size;
    }
    MPI_Comm_free(&comm);
    MPI_Errhandler_free(&made);
    MPI_Finalize();
    if (jumped == rounds && wrong == 0) return 0;
    fprintf(stderr, "%d jumps of %d, %d sums were wrong\n", jumped, rounds, wrong);
    return 1;
}
