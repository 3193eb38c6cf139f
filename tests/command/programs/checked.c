// Checking tools must find nothing in this program. It uses messages of all kinds, collectives, datatypes,
// communicators, and two threads at once. It checks every byte that it receives, and frees all memory that it
// allocates. It is built for both ABIs, with and without sanitizers (test_sanitizers.py).
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { longest = 40000, rounds = 3 };

static int rank, size, to, from;

static void expect(int is, int wanted, const char *what) {
    if (is == wanted) return;
    fprintf(stderr, "rank %d: %s: %d instead of %d\n", rank, what, is, wanted);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void fill(int *data, int count, int seed) {
    for (int i = 0; i < count; ++i) data[i] = seed * 1000 + i;
}

static void look(const int *data, int count, int seed, const char *what) {
    for (int i = 0; i < count; ++i) expect(data[i], seed * 1000 + i, what);
}

static void messages(MPI_Comm comm, int count, int tag) {
    int *out = malloc(sizeof(int) * (size_t)count), *in = malloc(sizeof(int) * (size_t)count);
    MPI_Request request[2];
    MPI_Status status[2];
    fill(out, count, rank + tag);
    MPI_Sendrecv(out, count, MPI_INT, to, tag, in, count, MPI_INT, from, tag, comm, &status[0]);
    look(in, count, from + tag, "sendrecv");
    MPI_Irecv(in, count, MPI_INT, from, tag + 1, comm, &request[0]);
    MPI_Isend(out, count, MPI_INT, to, tag + 1, comm, &request[1]);
    MPI_Waitall(2, request, status);
    look(in, count, from + tag, "isend");
    MPI_Get_count(&status[0], MPI_INT, &count);
    MPI_Issend(out, count, MPI_INT, to, tag + 2, comm, &request[0]);
    MPI_Probe(from, tag + 2, comm, &status[0]);
    MPI_Recv(in, count, MPI_INT, from, tag + 2, comm, MPI_STATUS_IGNORE);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    look(in, count, from + tag, "issend");
    free(out);
    free(in);
}

static void types(MPI_Comm comm, int count) {
    MPI_Datatype columns, part;
    int lengths[2] = {1, 2}, *out = malloc(sizeof(int) * 3 * (size_t)count),
        *in = calloc(3 * (size_t)count, sizeof(int));
    MPI_Aint places[2] = {0, 3 * (MPI_Aint)sizeof(int) * (count - 1)};
    MPI_Datatype both[2];
    MPI_Type_vector(count - 1, 1, 3, MPI_INT, &columns);
    both[0] = columns;
    both[1] = MPI_INT;
    MPI_Type_create_struct(2, lengths, places, both, &part);
    MPI_Type_commit(&part);
    fill(out, 3 * count, rank);
    MPI_Sendrecv(out, 1, part, to, 9, in, 1, part, from, 9, comm, MPI_STATUS_IGNORE);
    for (int i = 0; i < 3 * count; ++i)
        expect(in[i], i % 3 == 0 || i == 3 * count - 2 ? from * 1000 + i : 0, "datatype");
    MPI_Type_free(&part);
    MPI_Type_free(&columns);
    free(out);
    free(in);
}

static void all(MPI_Comm comm, int count) {
    int *out = malloc(sizeof(int) * (size_t)(count * size)),
        *in = malloc(sizeof(int) * (size_t)(count * size)), members;
    MPI_Request request;
    MPI_Comm_size(comm, &members);
    fill(out, count * members, rank);
    MPI_Allreduce(out, in, count, MPI_INT, MPI_MAX, comm);
    look(in, count, size - 1, "allreduce");
    MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, comm);
    for (int i = 0; i < members; ++i) expect(in[i * count], i * 1000 + rank * count, "alltoall");
    MPI_Iallgather(out, count, MPI_INT, in, count, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < members; ++i) look(in + i * count, count, i, "iallgather");
    if (rank == 0) fill(in, count, 77);
    MPI_Bcast(in, count, MPI_INT, 0, comm);
    look(in, count, 77, "bcast");
    MPI_Reduce(out, in, count, MPI_INT, MPI_MIN, 0, comm);
    if (rank == 0) look(in, count, 0, "reduce");
    MPI_Barrier(comm);
    free(out);
    free(in);
}

static void communicators(void) {
    MPI_Comm copy, half;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_name(copy, "copy");
    MPI_Comm_split(copy, 0, rank, &half);
    all(half, 10);
    MPI_Comm_free(&half);
    MPI_Comm_free(&copy);
}

struct Thread {
    pthread_t id;
    MPI_Comm comm;
    int number;
};

// The two threads of a rank also exchange messages, and only these messages order their accesses to this
// array.
static int handed[2][longest];

static void *work(void *given) {
    struct Thread *thread = given;
    int tag = 100 * (thread->number + 1), other = 1 - thread->number, sizes[] = {3, 2000, longest};
    MPI_Request request[2];
    for (int round = 0; round < rounds; ++round) {
        messages(thread->comm, sizes[round], tag);
        fill(handed[thread->number], sizes[round], tag + round);
        if (thread->number == 0) {
            MPI_Send(handed[0], sizes[round], MPI_INT, rank, 50, MPI_COMM_WORLD);
            MPI_Recv(handed[0], sizes[round], MPI_INT, rank, 51, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            int *in = malloc(sizeof(int) * (size_t)sizes[round]);
            MPI_Irecv(in, sizes[round], MPI_INT, rank, 50, MPI_COMM_WORLD, &request[0]);
            MPI_Isend(handed[1], sizes[round], MPI_INT, rank, 51, MPI_COMM_WORLD, &request[1]);
            MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
            look(in, sizes[round], 100 + round, "between threads");
            free(in);
        }
        if (thread->number == 0) look(handed[0], sizes[round], 100 * (other + 1) + round, "between threads");
        all(thread->comm, sizes[round] / 8 + 1);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int provided;
    struct Thread threads[2];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    messages(MPI_COMM_WORLD, 5, 1);
    messages(MPI_COMM_WORLD, longest, 1);
    types(MPI_COMM_WORLD, 10);
    types(MPI_COMM_WORLD, longest / 3);
    all(MPI_COMM_WORLD, 3);
    all(MPI_COMM_WORLD, longest / 4);
    communicators();
    if (argc > 1 && !strcmp(argv[1], "threads") && provided == MPI_THREAD_MULTIPLE) {
        for (int i = 0; i < 2; ++i) {
            threads[i].number = i;
            MPI_Comm_dup(MPI_COMM_WORLD, &threads[i].comm);
        }
        for (int i = 0; i < 2; ++i) pthread_create(&threads[i].id, NULL, work, &threads[i]);
        for (int i = 0; i < 2; ++i) pthread_join(threads[i].id, NULL);
        for (int i = 0; i < 2; ++i) MPI_Comm_free(&threads[i].comm);
    }
    if (rank == 0) printf("right\n");
    return MPI_Finalize();
}
