// Rank 0 sends a number to each of the other ranks, and so has a connection to each of them.
#include <mpi.h>

int main(int count, char **words) {
    int rank, size, number = 0;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int other = 1; other < size; ++other)
        if (rank == 0) MPI_Send(&number, 1, MPI_INT, other, 1, MPI_COMM_WORLD);
    if (rank != 0) MPI_Recv(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return MPI_Finalize();
}
