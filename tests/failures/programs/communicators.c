// Creates thousands of communicators that exist at the same time, and frees them. The shared memory that the
// communicators used must then return to the operating system, and must no longer be mapped. Called as
// `communicators N`. Prints "right".
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int wrong;

// Finds out how many MiB of memory the operating system has allocated for the node's segment, and how many
// MiB of the segment this process maps.
static void look(double *held, double *mapped) {
    struct stat about;
    const char *file = getenv("LANYARD_SEGMENT_FD");
    if (!file || fstat(atoi(file), &about) != 0)
        fprintf(stderr, "there is no shared memory to look at\n"), MPI_Abort(MPI_COMM_WORLD, 77);
    *held = (double)about.st_blocks * 512 / (1 << 20);
    *mapped = 0;
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps)) {
        unsigned long from, to, inode;
        if (sscanf(line, "%lx-%lx %*s %*s %*s %lu", &from, &to, &inode) == 3 && inode == about.st_ino)
            *mapped += (double)(to - from) / (1 << 20);
    }
    fclose(maps);
}

static void hold_and_free(MPI_Comm *comms, int many) {
    for (int i = 0; i < many; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        if (i % 7) continue;
        int one = 1, all = 0, size;
        MPI_Comm_size(comms[i], &size);
        MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comms[i]);
        if (all != size) wrong = 1;
    }
    for (int i = many; i-- > 0;) MPI_Comm_free(&comms[i]);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, many = atoi(argv[1]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm *comms = malloc((size_t)many * sizeof *comms);
    double held[3], mapped[3];
    for (int round = 0; round < 3; ++round) {
        if (round > 0) hold_and_free(comms, many);
        MPI_Barrier(MPI_COMM_WORLD);
        look(&held[round], &mapped[round]);
        MPI_Barrier(MPI_COMM_WORLD);
        if (held[round] <= held[0] + 16 && mapped[round] <= mapped[0] + 16) continue;
        fprintf(stderr, "rank %d, after round %d: %.1f MiB of shared memory (%.1f), %.1f mapped (%.1f)\n",
                rank, round, held[round], held[0], mapped[round], mapped[0]);
        wrong = 1;
    }
    free(comms);
    int any;
    MPI_Reduce(&wrong, &any, 1, MPI_INT, MPI_LOR, 0, MPI_COMM_WORLD);
    if (rank == 0 && !any) printf("right\n");
    MPI_Finalize();
    return wrong;
}
