// After MPI_Init, rank 1 makes the kernel refuse its calls of membarrier (refuse.h). Then it waits so long
// for a message that it falls asleep.
#include <mpi.h>

#include "refuse.h"

int main(int count, char **words) {
    int rank;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) {
        refuse_barriers();
        MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        sleep(1);
        MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
