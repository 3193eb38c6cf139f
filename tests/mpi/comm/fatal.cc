// Ends with an error under MPI_ERRORS_ARE_FATAL. The test looks for the error message and checks that no rank
// continues.
#include "check.h"

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int data = 1;
    if (rank_in(MPI_COMM_WORLD) == size_of(MPI_COMM_WORLD) - 1)
        MPI_Send(&data, 3, MPI_INT, 9, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    std::printf("not reached\n");
    MPI_Finalize();
}
