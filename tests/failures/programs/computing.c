// Rank 1 computes for SECONDS without a call to MPI. Meanwhile the other ranks send to rank 1 and wait for an
// answer from rank 1. Then all ranks call MPI_Barrier.
//   computing SECONDS
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int count, char **words) {
    int rank, size, number = 0;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        double seconds = atof(words[1]);
        nanosleep(&(struct timespec){(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)},
                  NULL);
        for (int other = 0; other < size; ++other)
            if (other != rank)
                MPI_Sendrecv_replace(&number, 1, MPI_INT, other, 1, other, 1, MPI_COMM_WORLD,
                                     MPI_STATUS_IGNORE);
    } else {
        MPI_Sendrecv_replace(&rank, 1, MPI_INT, 1, 1, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) printf("right\n");
    return MPI_Finalize();
}
