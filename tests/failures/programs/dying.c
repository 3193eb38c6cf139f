// One rank, the victim, kills itself by SIGKILL at a chosen moment, while the other ranks are in MPI or about
// to call MPI. The victim prints the time of its death, in seconds since 1970.
//   dying MOMENT VICTIM     with MOMENT "waiting" or "late", no rank dies
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const size_t long_bytes = 64 << 20;
static int rank, size, victim;

static void die(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    fprintf(stderr, "died at %.6f\n", (double)now.tv_sec + (double)now.tv_nsec / 1e9);
    raise(SIGKILL);
}

static int die_inside(MPI_Comm comm, int key, void *value, void *extra) {
    die();
    return MPI_SUCCESS;
}

// Receives from the victim or sends to it, without end. All ranks that still live call this function. In the
// moments "waiting" and "late" the victim is one of them.
static void wait_for_victim(void) {
    char byte = 0;
    for (int i = 0;; ++i) {
        if (rank % 2) MPI_Ssend(&byte, 1, MPI_CHAR, victim, 1000 + i, MPI_COMM_WORLD);
        else MPI_Recv(&byte, 1, MPI_CHAR, victim, 1000 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void exchange_once(void) {
    int sum = 0, other = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Sendrecv(&rank, 1, MPI_INT, other, 1, &sum, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void pause_ms(long ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL); }

// The victim receives a long message from its neighbour, or sends one to it, and dies when a part of the
// message has arrived.
static void die_during_bulk(int receiving) {
    int partner = (victim + 1) % size, flag = 0;
    char *data = calloc(long_bytes, 1);
    MPI_Request request;
    if (rank != victim && rank != partner) wait_for_victim();
    int receives = (rank == victim) == (receiving != 0);
    if (receives)
        MPI_Irecv(data, (int)long_bytes, MPI_CHAR, rank == victim ? partner : victim, 5, MPI_COMM_WORLD,
                  &request);
    else memset(data, 1, long_bytes);
    if (!receives)
        MPI_Isend(data, (int)long_bytes, MPI_CHAR, rank == victim ? partner : victim, 5, MPI_COMM_WORLD,
                  &request);
    if (rank != victim) MPI_Wait(&request, MPI_STATUS_IGNORE);
    double end = MPI_Wtime() + 0.005;
    while (rank == victim && !flag &&
           (receiving ? !data[long_bytes / 8] && !data[long_bytes - 1] : MPI_Wtime() < end))
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    if (rank == victim) die();
    free(data);
    wait_for_victim();
}

int main(int count, char **words) {
    const char *moment = words[1];
    victim = atoi(words[2]);
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(moment, "before-any-contact")) {
        if (rank == victim) die();
        pause_ms(200);
    // Other ranks have contacted the victim while the victim computed.
    } else if (!strcmp(moment, "before-it-answers")) {
        if (rank == victim) {
            pause_ms(200);
            die();
        }
    } else if (!strcmp(moment, "after-messages")) {
        exchange_once();
        if (rank == victim) die();
    } else if (!strcmp(moment, "after-an-offer")) {
        exchange_once();
        if (rank == victim) {
            MPI_Request request;
            char *data = calloc(long_bytes, 1);
            for (int other = 0; other < size; ++other)
                if (other != rank)
                    MPI_Isend(data, (int)long_bytes, MPI_CHAR, other, 1000, MPI_COMM_WORLD, &request);
            pause_ms(50);
            die();
        }
        char *data = malloc(long_bytes);
        pause_ms(100);
        MPI_Recv(data, (int)long_bytes, MPI_CHAR, victim, 1000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(moment, "receiving-bulk") || !strcmp(moment, "sending-bulk")) {
        die_during_bulk(!strcmp(moment, "receiving-bulk"));
    } else if (!strcmp(moment, "in-a-collective")) {
        exchange_once();
        if (rank == victim) die();
        exchange_once();
    } else if (!strcmp(moment, "late")) {  // the first contact is 0.6 s after MPI_Init
        pause_ms(600);
        exchange_once();
    } else if (!strcmp(moment, "waiting")) {
        exchange_once();
    } else if (!strcmp(moment, "in-finalize")) {
        int key;
        exchange_once();
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, die_inside, &key, NULL);
        if (rank == victim) {
            MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
            pause_ms(100);
        }
        return MPI_Finalize();
    }
    wait_for_victim();
    return 0;
}
