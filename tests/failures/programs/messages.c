// Uses messages wrongly. The first word on the command line names the wrong use. Most wrong uses do not harm
// the library, so the tests check what the library reports.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, numbers[1 << 18];

// Rank 0 sends `sent` numbers with tag 7 to the last rank, which has room for `room`.
static int truncated(int sent, int room, int wait_first) {
    MPI_Status status;
    MPI_Request request;
    int code = MPI_SUCCESS, length, count = -1;
    char text[MPI_MAX_ERROR_STRING];
    if (wait_first && rank == size - 1) MPI_Irecv(numbers, room, MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) MPI_Send(numbers, sent, MPI_INT, size - 1, 7, MPI_COMM_WORLD);
    if (rank == size - 1) {
        if (wait_first) code = MPI_Wait(&request, &status);
        else code = MPI_Recv(numbers, room, MPI_INT, 0, 7, MPI_COMM_WORLD, &status);
        MPI_Error_string(code, text, &length);
        MPI_Get_count(&status, MPI_INT, &count);
        printf("%s\n", text);
    }
    return 0;
}

static void on_error(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code; }
static void on_reduction(void *in, void *inout, int *length, MPI_Datatype *type) {
    (void)in, (void)inout, (void)length, (void)type;
}

// Leaves things over until MPI_Finalize: messages, requests, a posted receive, or handles of all kinds. Some
// of these handles are freed.
static void leave_over(const char *what) {
    MPI_Request request;
    if (!strcmp(what, "short")) {
        for (int i = 0; i < 2 && rank == 0; ++i) MPI_Send(numbers, 3, MPI_INT, size - 1, 5, MPI_COMM_WORLD);
    } else if (!strcmp(what, "probed") && rank == 0) {
        MPI_Message message;
        MPI_Send(numbers, 3, MPI_INT, 0, 5, MPI_COMM_SELF);
        MPI_Mprobe(0, 5, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE);
    } else if (!strcmp(what, "receive") && rank == 0) {
        MPI_Irecv(numbers, 1, MPI_INT, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &request);
    } else if (!strcmp(what, "long") && rank == 0) {
        MPI_Isend(numbers, 1 << 18, MPI_INT, size - 1, 5, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    } else if (!strcmp(what, "handles") && rank == 0) {
        MPI_Comm named;
        MPI_Datatype types[3];
        MPI_Info info;
        MPI_Comm_dup(MPI_COMM_SELF, &named);
        MPI_Comm_set_name(named, "the_lake");
        for (int i = 0; i < 3; ++i) MPI_Type_contiguous(i + 1, MPI_INT, &types[i]);
        MPI_Type_free(&types[0]);
        MPI_Info_create(&info);
        MPI_Group group, freed_group;
        MPI_Comm_group(MPI_COMM_WORLD, &group);
        MPI_Comm_group(MPI_COMM_WORLD, &freed_group);
        MPI_Group_free(&freed_group);
        MPI_Errhandler handlers[3];
        for (int i = 0; i < 3; ++i) MPI_Comm_create_errhandler(on_error, &handlers[i]);
        // keeps the handler alive after its handle is freed
        MPI_Comm_set_errhandler(MPI_COMM_SELF, handlers[0]);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, handlers[1]);
        MPI_Errhandler_free(&handlers[0]);
        int keys[2];
        for (int i = 0; i < 2; ++i)
            MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keys[i], NULL);
        MPI_Comm_free_keyval(&keys[0]);
        MPI_Op op;
        MPI_Op_create(on_reduction, 1, &op);
    }
}

// Makes each rank wait without end in a different call, on a communicator with a name.
static void stuck(void) {
    // All communicators have the same name. They are different communicators, because different
    // collectives on the same one would be reported as a mismatch.
    MPI_Comm named, others[3];
    MPI_Request requests[4];
    MPI_Comm_dup(MPI_COMM_WORLD, &named);
    MPI_Comm_set_name(named, "the_lake");
    for (int i = 0; i < 3; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &others[i]);
        MPI_Comm_set_name(others[i], "the_lake");
    }
    printf("ready\n");
    fflush(stdout);
    if (rank == 0) MPI_Recv(numbers, 1, MPI_INT, MPI_ANY_SOURCE, 41, named, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Ssend(numbers, 1, MPI_INT, 2, 42, named);
    if (rank == 2) MPI_Probe(3, MPI_ANY_TAG, named, MPI_STATUS_IGNORE);
    if (rank == 3) {
        MPI_Irecv(numbers, 1, MPI_INT, 0, 43, named, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    if (rank == 4) {
        MPI_Irecv(numbers, 1, MPI_INT, 0, 44, named, &requests[0]);
        MPI_Irecv(numbers, 1, MPI_INT, 0, 45, named, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    if (rank == 5) MPI_Allreduce(numbers, numbers + 1, 1, MPI_INT, MPI_SUM, named);
    if (rank == 6) MPI_Comm_dup(others[2], &named);
    if (rank == 7) MPI_Bcast(numbers, 1, MPI_INT, 0, others[0]);
    static char long_message[1 << 20];
    if (rank == 8) {
        MPI_Ialltoall(numbers, 1, MPI_INT, long_message, 1, MPI_INT, others[1], &requests[0]);
        MPI_Isend(long_message, sizeof long_message, MPI_BYTE, 9, 46, named, &requests[1]);
        MPI_Irecv(numbers, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, named, &requests[2]);
        MPI_Irecv(numbers, 1, MPI_INT, 2, 47, MPI_COMM_WORLD, &requests[3]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
    if (rank == 9) for (;;) pause();
    if (rank == 10) MPI_Send(long_message, sizeof long_message, MPI_BYTE, 9, 48, named);
    // Rank 11 continues to MPI_Finalize.
    if (rank == 11) MPI_Isend(long_message, sizeof long_message, MPI_BYTE, 9, 49, named, &requests[0]);
}

int main(int count, char **words) {
    const char *wish = words[1];
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(wish, "truncated")) {
        if (!strcmp(words[2], "return")) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        truncated(atoi(words[3]), atoi(words[4]), atoi(words[5]));
    }
    if (!strcmp(wish, "leave")) leave_over(words[2]);
    if (!strcmp(wish, "stuck")) stuck();
    return MPI_Finalize();
}
