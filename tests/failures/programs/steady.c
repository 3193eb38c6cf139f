// Rank 0 sends messages of 256 KiB to rank 1 for SECONDS. Every half second, rank 1 prints how many MB
// have arrived in this half second.
//   steady SECONDS
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { bytes = 256 << 10, ahead = 4 };

int main(int count, char **words) {
    char *data[ahead];
    int rank, number = 0, go_on = 1;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < ahead; ++i) data[i] = calloc(bytes, 1);
    double began = MPI_Wtime(), told = began, mb = 0;
    MPI_Request requests[ahead];
    for (int i = 0; i < ahead; ++i) requests[i] = MPI_REQUEST_NULL;
    for (; go_on; ++number) {  // the first byte of each message is 1 if another message follows
        int at = number % ahead;
        MPI_Wait(&requests[at], MPI_STATUS_IGNORE);
        if (rank == 0) {
            go_on = data[at][0] = MPI_Wtime() < began + atof(words[1]);
            MPI_Isend(data[at], bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[at]);
        } else {
            MPI_Recv(data[at], bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            go_on = data[at][0];
            mb += bytes / 1e6;
            if (MPI_Wtime() < told + 0.5) continue;
            told += 0.5;
            printf("%.3f\n", mb);
            fflush(stdout);
            mb = 0;
        }
    }
    MPI_Waitall(ahead, requests, MPI_STATUSES_IGNORE);
    return MPI_Finalize();
}
