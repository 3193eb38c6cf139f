// Each rank exchanges messages of many sizes with all other ranks, and all ranks take part in an alltoall.
// Every byte is verified. There are two rounds. After the first round, each process can restrict itself by a
// filter (seccomp). With the word "late", the kernel then refuses attempts to read or write the memory of
// other processes. With the word "locked", it refuses all calls that the library can do without.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "refuse.h"

static int rank, size;

static unsigned char byte_of(int from, int to, size_t i) {
    return (unsigned char)(from * 31 + to * 17 + i * 7 + (i >> 9));
}

static void expect(const unsigned char *data, size_t bytes, int from, int to) {
    for (size_t i = 0; i < bytes; ++i) {
        if (data[i] == byte_of(from, to, i)) continue;
        fprintf(stderr, "rank %d: byte %zu of %zu from rank %d is wrong\n", to, i, bytes, from);
        MPI_Abort(MPI_COMM_WORLD, 77);
    }
}

static void pairs(size_t bytes) {
    unsigned char *out = malloc(bytes + 1), *in = malloc(bytes + 1);
    for (int distance = 0; distance < size; ++distance) {
        int to = (rank + distance) % size, from = (rank + size - distance) % size;
        for (size_t i = 0; i < bytes; ++i) out[i] = byte_of(rank, to, i);
        memset(in, 0, bytes);
        MPI_Sendrecv(out, (int)bytes, MPI_BYTE, to, 1, in, (int)bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        expect(in, bytes, from, rank);
    }
    free(out);
    free(in);
}

static void all(size_t bytes) {
    unsigned char *out = malloc(bytes * size), *in = calloc(size, bytes);
    for (int to = 0; to < size; ++to)
        for (size_t i = 0; i < bytes; ++i) out[to * bytes + i] = byte_of(rank, to, i);
    MPI_Alltoall(out, (int)bytes, MPI_BYTE, in, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
    for (int from = 0; from < size; ++from) expect(in + from * bytes, bytes, from, rank);
    free(out);
    free(in);
}

int main(int count, char **words) {
    size_t longest = count > 1 ? strtoul(words[1], NULL, 10) : 1 << 20;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 2; ++round) {
        for (size_t bytes = 1; bytes <= longest; bytes *= 8) pairs(bytes + bytes / 3);
        for (size_t bytes = 1; bytes <= longest / 8; bytes *= 16) all(bytes);
        if (round == 0 && count > 2 && !strcmp(words[2], "late")) refuse_memory_of_others();
        if (round == 0 && count > 2 && !strcmp(words[2], "locked")) refuse_all_that_others_do();
    }
    if (rank == 0) printf("right\n");
    return MPI_Finalize();
}
