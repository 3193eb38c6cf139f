// After MPI_Init, rank 1 lets the kernel refuse it the system call membarrier (refuse.h). It then waits for
// a message long enough to fall asleep.
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
