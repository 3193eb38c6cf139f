// Rank 1 makes the library allocate more and more memory. The memory of rank 1 is limited to 8 MiB above its
// size at the beginning. Rank 0 waits.
//   hungry -v    of addresses (RLIMIT_AS)
//   hungry -d    of data (RLIMIT_DATA)
// With a second argument ("calls"), a single rank with the same limit makes calls that need much memory
// because of their arguments, prints what each of them returns, and goes on.
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
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

static void tell(const char *call, int code) {
    int class, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
    printf("%s: %s\n", call, class == MPI_ERR_NO_MEM ? "MPI_ERR_NO_MEM" : text);
}

// Moves four partitions from this rank to itself. If a refused call had begun anything, these requests would
// be matched with it.
static void move_partitions(void) {
    int sent[4] = {1, 2, 3, 4}, got[4] = {0};
    MPI_Request both[2];
    MPI_Psend_init(sent, 4, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &both[0]);
    MPI_Precv_init(got, 4, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &both[1]);
    MPI_Startall(2, both);
    MPI_Pready_range(0, 3, both[0]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; ++i) MPI_Request_free(&both[i]);
    printf("%s\n", memcmp(sent, got, sizeof sent) == 0 ? "right" : "wrong");
}

enum { many = 1 << 28, large_bytes = 1 << 28 };

// Makes calls for which the limit leaves no memory. `large`: a buffer of large_bytes bytes.
static void make_calls(char *large) {
    MPI_Request request;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    tell("MPI_Psend_init",
         MPI_Psend_init(large, many, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    tell("MPI_Precv_init",
         MPI_Precv_init(large, many, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    tell("MPI_Sendrecv_replace",
         MPI_Sendrecv_replace(large, large_bytes, MPI_BYTE, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0,
                              MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    tell("MPI_Isendrecv_replace",
         MPI_Isendrecv_replace(large, large_bytes, MPI_BYTE, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0,
                               MPI_COMM_WORLD, &request));
    move_partitions();
    MPI_Finalize();
}

int main(int count, char **words) {
    int addresses = strcmp(words[1], "-v") == 0, calls = count > 2, rank;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && !calls) MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    char *large = NULL;  // never touched, so it takes only addresses
    if (calls)
        large = mmap(NULL, large_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                     -1, 0);
    rlim_t bytes = (rlim_t)(kib_of(addresses ? "VmSize:" : "VmData:") + 8192) * 1024;
    setrlimit(addresses ? RLIMIT_AS : RLIMIT_DATA, &(struct rlimit){bytes, bytes});
    if (calls) return make_calls(large), 0;
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
