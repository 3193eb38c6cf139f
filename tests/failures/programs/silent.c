// Two ranks exchange messages. Then rank 0 prints "cut", and the test cuts the network between the ranks.
//   silent told SECONDS       after the cut, rank 0 sends short messages, computes for SECONDS and ends
//                             without another call that involves rank 1
//   silent freed SECONDS      as told; rank 0 also starts a synchronous send and frees its request
//   silent ask SECONDS        as told, but errors are returned: after computing, rank 0 calls MPI_Send,
//                             MPI_Probe and MPI_Iprobe, and prints their errors
//   silent going-on SECONDS   both ranks continue to exchange messages for SECONDS
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank;

static void pause_s(double s) {
    nanosleep(&(struct timespec){(time_t)s, (long)((s - (double)(time_t)s) * 1e9)}, NULL);
}

static void exchange(int tag) {
    int mine = rank + tag, theirs = 0;
    MPI_Sendrecv(&mine, 1, MPI_INT, !rank, tag, &theirs, 1, MPI_INT, !rank, tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (theirs != !rank + tag) {
        fprintf(stderr, "rank %d received %d\n", rank, theirs);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int count, char **words) {
    char bytes[100] = "";
    const char *how = words[1];
    double seconds = atof(words[2]);
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    exchange(1);
    pause_s(0.2);  // gives the ranks time to acknowledge the exchange
    if (rank == 0) {
        puts("cut");
        fflush(stdout);
    }
    if (!strcmp(how, "going-on")) {
        int64_t rounds = 0;
        int go_on = 1;
        for (double end = MPI_Wtime() + seconds; go_on; ++rounds) {
            exchange(2);
            go_on = MPI_Wtime() < end;
            MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
        }
        if (rank == 0) printf("right\n");
        return MPI_Finalize();
    }
    pause_s(0.5);
    if (rank == 0) {
        for (int i = 0; i < 3; ++i) MPI_Send(bytes, (int)sizeof bytes, MPI_CHAR, 1, 3, MPI_COMM_WORLD);
        if (!strcmp(how, "freed")) {
            MPI_Request request;
            MPI_Issend(bytes, (int)sizeof bytes, MPI_CHAR, 1, 4, MPI_COMM_WORLD, &request);
            MPI_Request_free(&request);
        }
    }
    pause_s(seconds);
    if (rank == 0 && !strcmp(how, "ask")) {
        char text[MPI_MAX_ERROR_STRING] = "";
        int length = 0;
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        int code = MPI_Send(bytes, 1, MPI_CHAR, 1, 5, MPI_COMM_WORLD);
        if (code) MPI_Error_string(code, text, &length);
        printf("%s\n", text);
        int flag = 0, error_class = 0;
        code = MPI_Probe(1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (code) MPI_Error_string(code, text, &length);
        printf("%s\n", text);
        code = MPI_Iprobe(1, 6, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        MPI_Error_class(code, &error_class);
        printf("%s\n", error_class == MPI_ERR_PROC_ABORTED ? "the class is right" : "the class is wrong");
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    if (rank == 0) return MPI_Finalize();
    pause_s(100);
    return 1;
}
