// The folder of the node's shared memory (LANYARD_SHM_DIR) fills up while the job runs. The ranks continue
// and verify what they receive.
//
//   full met              all ranks have exchanged messages before the folder is full; communicators,
//                         messages and collectives must work while it is full, and when there is room again
//   full strangers WHAT FILE
//                         only ranks 0 and 1 have exchanged messages. WHAT is the first thing that the ranks
//                         do after FILE exists, which means that the folder is full
//   full interrupted      as met, but the folder does not fill up; instead, signals interrupt each request of
//                         the library for more memory three times
//
// The program prints "right". If WHAT is "returned", the ranks that cannot reach each other print their
// errors before that.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, filler = -1;  // filler: the file that fills the folder

static int interrupted;

// The library calls this function instead of the function of libc. On older kernels, a signal that the
// program catches can interrupt posix_fallocate. An interruption happens only by chance, so this function
// simulates it.
int posix_fallocate(int file, off_t from, off_t bytes) {
    static __thread int calls;
    if (interrupted && ++calls % 4) return EINTR;
    return fallocate(file, 0, from, bytes) == 0 ? 0 : errno;
}

static unsigned char byte_of(int from, int to, size_t i) {
    return (unsigned char)(from * 31 + to * 17 + i * 7 + (i >> 9));
}

static void fill(unsigned char *data, size_t bytes, int from, int to) {
    for (size_t i = 0; i < bytes; ++i) data[i] = byte_of(from, to, i);
}

static void expect(const unsigned char *data, size_t bytes, int from, int to) {
    for (size_t i = 0; i < bytes; ++i) {
        if (data[i] == byte_of(from, to, i)) continue;
        fprintf(stderr, "rank %d: byte %zu of %zu from rank %d is wrong\n", rank, i, bytes, from);
        MPI_Abort(MPI_COMM_WORLD, 77);
    }
}

// Fills the folder with a file. Writes smaller and smaller portions, so that even the last page is full.
static void fill_folder(void) {
    static char nothing[1 << 16];
    filler = open(getenv("LANYARD_SHM_DIR"), O_TMPFILE | O_RDWR, 0600);
    if (filler < 0) perror("the folder to fill"), MPI_Abort(MPI_COMM_WORLD, 78);
    for (size_t portion = sizeof nothing; portion >= 1; portion /= 2)
        while (write(filler, nothing, portion) > 0) continue;
    if (write(filler, nothing, 1) != -1)
        fprintf(stderr, "the folder is not full\n"), MPI_Abort(MPI_COMM_WORLD, 78);
}

static void pairs(MPI_Comm comm, size_t bytes) {
    int me, all;
    unsigned char *out = malloc(bytes + 1), *in = malloc(bytes + 1);
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &all);
    for (int distance = 0; distance < all; ++distance) {
        int to = (me + distance) % all, from = (me + all - distance) % all;
        fill(out, bytes, me, to);
        memset(in, 0, bytes);
        MPI_Sendrecv(out, (int)bytes, MPI_BYTE, to, 1, in, (int)bytes, MPI_BYTE, from, 1, comm,
                     MPI_STATUS_IGNORE);
        expect(in, bytes, from, me);
    }
    free(out);
    free(in);
}

static void all_to_all(MPI_Comm comm, size_t bytes) {
    int me, all;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &all);
    unsigned char *out = malloc(bytes * all), *in = calloc(all, bytes);
    for (int to = 0; to < all; ++to) fill(out + to * bytes, bytes, me, to);
    MPI_Alltoall(out, (int)bytes, MPI_BYTE, in, (int)bytes, MPI_BYTE, comm);
    for (int from = 0; from < all; ++from) expect(in + from * bytes, bytes, from, me);
    if (me == 0) fill(out, bytes, 3, 3);
    MPI_Bcast(out, (int)bytes, MPI_BYTE, 0, comm);
    expect(out, bytes, 3, 3);
    free(out);
    free(in);
}

// Creates communicators of many kinds that exist at the same time, and frees them. The second round uses the
// memory that the first round has returned.
static void communicators(void) {
    enum { many = 24 };
    MPI_Comm comms[many];
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < many; ++i) {
            if (i % 3 == 0) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
            else if (i % 3 == 1) MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comms[i]);
            else MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &comms[i]);
            pairs(comms[i], 100);
            for (size_t bytes = 1; bytes < 100000; bytes *= 30) all_to_all(comms[i], bytes);
        }
        for (int i = 0; i < many; ++i) MPI_Comm_free(&comms[i]);
    }
}

// Sends messages with all protocols before their receives are posted. The last message is received
// first.
static void messages(void) {
    enum { many = 3000 };
    static const size_t lengths[] = {0, 8, 24, 100, 640, 1000, 4096, 16384, 65536, 300000};
    static MPI_Request requests[many];
    static unsigned char *out[many], in[300000];
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int i = 0; i < many; ++i) {
        size_t bytes = lengths[i % 100 < 99 ? i % 8 : 8 + i / 100 % 2];
        fill(out[i] = malloc(bytes + 1), bytes, rank + i, to);
        MPI_Isend(out[i], (int)bytes, MPI_BYTE, to, i, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = many - 1; i >= 0; --i) {
        size_t bytes = lengths[i % 100 < 99 ? i % 8 : 8 + i / 100 % 2];
        memset(in, 0, bytes);
        MPI_Recv(in, (int)bytes, MPI_BYTE, from, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect(in, bytes, from + i, rank);
    }
    MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < many; ++i) free(out[i]);
}

static void collectives(void) {
    for (size_t bytes = 1; bytes <= 1 << 20; bytes *= 8) all_to_all(MPI_COMM_WORLD, bytes);
}

static void met(void) {
    pairs(MPI_COMM_WORLD, 10);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && !interrupted) fill_folder();
    MPI_Barrier(MPI_COMM_WORLD);
    communicators();
    messages();
    collectives();
    pairs(MPI_COMM_WORLD, 1 << 20);
    if (rank == 0 && !interrupted) close(filler);  // there is room again
    MPI_Barrier(MPI_COMM_WORLD);
    communicators();
}

static void tell(int code) {
    char text[MPI_MAX_ERROR_STRING] = "nothing is wrong";
    int length;
    if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
    printf("rank %d: %s\n", rank, text);
}

// Rank 1 cannot reach rank 2, and both print their errors. Rank 1 can still reach rank 0.
static void returned(void) {
    int number = 5, got = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 1) tell(MPI_Send(&number, 1, MPI_INT, 2, 0, MPI_COMM_WORLD));
    if (rank == 2) tell(MPI_Recv(&got, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    if (rank == 1) MPI_Send(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(&got, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0 && got != 5) exit(79);
    MPI_Barrier(MPI_COMM_WORLD);
}

// Rank 0 fills the folder and creates the file `is_full`. The other ranks wait for this file,
// because the ranks must not communicate before.
static void fill_and_wait(const char *is_full) {
    if (rank == 0) {
        fill_folder();
        close(open(is_full, O_CREAT | O_WRONLY, 0600));
    }
    while (access(is_full, F_OK) != 0) usleep(1000);
}

static void strangers(const char *what, const char *is_full) {
    unsigned char data[1000] = {0};
    int to = (rank + 1) % size, from = (rank + size - 1) % size, number = 0;
    if (rank < 2)
        MPI_Sendrecv_replace(&number, 1, MPI_INT, 1 - rank, 0, 1 - rank, 0, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
    fill_and_wait(is_full);
    for (int i = 0; i < size && !strcmp(what, "send"); ++i) {
        if (i == rank) MPI_Send(data, sizeof data, MPI_BYTE, to, 1, MPI_COMM_WORLD);
        if (i == from) MPI_Recv(data, sizeof data, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (!strcmp(what, "sendrecv")) pairs(MPI_COMM_WORLD, sizeof data);
    if (!strcmp(what, "long")) pairs(MPI_COMM_WORLD, 1 << 20);
    if (!strcmp(what, "collectives")) collectives();
    if (!strcmp(what, "communicators")) communicators();
    if (!strcmp(what, "returned")) returned();
}

int main(int count, char **words) {
    interrupted = !strcmp(words[1], "interrupted");
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (count > 3) strangers(words[2], words[3]);
    else met();
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("right\n");
    return MPI_Finalize();
}
