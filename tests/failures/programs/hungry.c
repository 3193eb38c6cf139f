// Rank 1 makes the library allocate more and more memory. The memory of rank 1 is limited to 8 MiB above its
// size at the beginning. Rank 0 waits.
//   hungry -v    of addresses (RLIMIT_AS)
//   hungry -d    of data (RLIMIT_DATA)
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static long kib_of(const char *name) {
    FILE *status = fopen("/proc/self/status", "r");
    char line[200];
    long kib = -1;
    while (fgets(line, sizeof line, status))
        if (strncmp(line, name, strlen(name)) == 0) sscanf(line + strlen(name), "%ld", &kib);
    fclose(status);
    return kib;
}

int main(int count, char **words) {
    (void)count;
    int addresses = strcmp(words[1], "-v") == 0, rank;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    rlim_t bytes = (rlim_t)(kib_of(addresses ? "VmSize:" : "VmData:") + 8192) * 1024;
    setrlimit(addresses ? RLIMIT_AS : RLIMIT_DATA, &(struct rlimit){bytes, bytes});
    printf("a line\n");
    char key[20], value[1000];
    memset(value, 'v', sizeof value);
    value[sizeof value - 1] = 0;
    for (int i = 0;; ++i) {  // each info object takes some KiB
        MPI_Info info;
        MPI_Info_create(&info);
        for (int entry = 0; entry < 4; ++entry) {
            snprintf(key, sizeof key, "%d", entry);
            MPI_Info_set(info, key, value);
        }
    }
}
