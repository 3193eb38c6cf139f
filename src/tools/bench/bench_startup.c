/* bench-startup: a program that starts MPI and ends it. Whoever runs it takes the time from outside, launcher included
 * (bench/compare does). C and nothing linked but MPI, so that no other library's loading time is measured. */
#include <mpi.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}
