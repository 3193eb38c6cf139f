// Rank 0 sends a short message and then long messages to rank 1, and prints how long they took.
//     bulk MIB [ROUNDS]     prints "first 12.3 ms" (since MPI_Init) and for each round "bulk 118.2 MB/s"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    size_t bytes = (size_t)atol(argv[1]) << 20;
    int rounds = argc > 2 ? atoi(argv[2]) : 1, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *data = malloc(bytes);
    for (size_t i = 0; i < bytes; i += 4096) data[i] = (char)(i >> 12);
    double begin = MPI_Wtime();
    char word = 'x';
    if (rank == 0) {
        MPI_Send(&word, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(&word, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("first %.1f ms\n", (MPI_Wtime() - begin) * 1e3);
    } else if (rank == 1) {
        MPI_Recv(&word, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&word, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
    for (int round = 0; round < rounds; ++round) {
        begin = MPI_Wtime();
        if (rank == 0) {
            MPI_Send_c(data, (MPI_Count)bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(&word, 1, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            printf("bulk %.1f MB/s\n", (double)bytes / 1e6 / (MPI_Wtime() - begin));
        } else if (rank == 1) {
            for (size_t i = 0; i < bytes; i += 4096) data[i] = 0;
            MPI_Recv_c(data, (MPI_Count)bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (size_t i = 0; i < bytes; i += 4096)
                if (data[i] != (char)(i >> 12)) return printf("byte %zu is wrong\n", i), 1;
            MPI_Send(&word, 1, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    free(data);
    return 0;
}
