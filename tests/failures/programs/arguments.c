// Makes one wrong call to MPI. The first word on the command line names the call. If the second word is
// "return", the call returns the error, and the program prints the error's class and text. If the second word
// is "fatal", the default error handler is used, and the line after the call must not be reached.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int numbers[8];
static MPI_Datatype uncommitted, freed_type, pair;
static MPI_Comm freed_comm;
static MPI_Request started;

static void prepare(void) {
    MPI_Type_vector(2, 1, 2, MPI_INT, &uncommitted);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Datatype type;
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_commit(&type);
    freed_type = type;
    MPI_Type_free(&type);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    freed_comm = comm;
    MPI_Comm_free(&comm);
}

static MPI_Comm comm_of_mpich(const char *wish) {
    if (strncmp(wish, "null", 4) == 0) return (MPI_Comm)(intptr_t)0x04000000;
    if (strncmp(wish, "negative", 8) == 0) return (MPI_Comm)(intptr_t)(int)0xc4000001;
    return (MPI_Comm)(intptr_t)0x44000000;
}

static int user_key(void) {
    int key, kept;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    kept = key;
    MPI_Comm_free_keyval(&key);
    return kept;
}

static int user_code(void) {
    int error_class, code;
    MPI_Add_error_class(&error_class);
    MPI_Add_error_code(error_class, &code);
    MPI_Add_error_string(code, "the lake is dry");
    return code;
}

#define WISH(word) if (!strcmp(wish, word))

static int ask(void *state, MPI_Status *status) { return state || !status; }
static int end(void *state) { return state != NULL; }
static int stop(void *state, int complete) { return state || !complete; }

static void add(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)in, (void)inout, (void)count, (void)type;
}
static void look_at(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code; }

// Uses a request that has been freed. The operation of the request continues, but a program must not use a
// freed request.
static int use_freed_request(const char *wish) {
    int flag, where, places[1];
    if (strstr(wish, "of the program")) MPI_Grequest_start(ask, end, stop, NULL, &started);
    else MPI_Irecv(numbers, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &started);
    MPI_Request kept = started;
    MPI_Request_free(&started);
    WISH("wait for a freed request") return MPI_Wait(&kept, MPI_STATUS_IGNORE);
    WISH("wait for a freed request of the program") return MPI_Wait(&kept, MPI_STATUS_IGNORE);
    WISH("wait for all with a freed request") return MPI_Waitall(1, &kept, MPI_STATUSES_IGNORE);
    WISH("wait for any of a freed request") return MPI_Waitany(1, &kept, &where, MPI_STATUS_IGNORE);
    WISH("wait for some of a freed request")
        return MPI_Waitsome(1, &kept, &where, places, MPI_STATUSES_IGNORE);
    WISH("test of a freed request") return MPI_Test(&kept, &flag, MPI_STATUS_IGNORE);
    WISH("status of a freed request") return MPI_Request_get_status(kept, &flag, MPI_STATUS_IGNORE);
    return MPI_Request_free(&kept);
}

// Uses copies of handles whose objects have been freed.
static int use_ended(const char *wish) {
    MPI_Comm comm = MPI_COMM_WORLD, self = MPI_COMM_SELF;
    WISH("group after its end") {
        MPI_Group all, group, kept;
        MPI_Comm_group(comm, &all);
        MPI_Group_excl(all, 1, numbers, &group);
        kept = group;
        MPI_Group_free(&group);
        return MPI_Group_size(kept, numbers);
    }
    WISH("operation after its end") {
        MPI_Op op, kept;
        MPI_Op_create(add, 1, &op);
        kept = op;
        MPI_Op_free(&op);
        return MPI_Allreduce(numbers, numbers + 4, 1, MPI_INT, kept, comm);
    }
    WISH("info after its end") {
        MPI_Info info, kept;
        MPI_Info_create(&info);
        kept = info;
        MPI_Info_free(&info);
        return MPI_Info_set(kept, "key", "value");
    }
    WISH("error handler after its end") {
        MPI_Errhandler handler, kept;
        MPI_Comm_create_errhandler(look_at, &handler);
        kept = handler;
        MPI_Errhandler_free(&handler);
        return MPI_Comm_set_errhandler(comm, kept);
    }
    WISH("message after its end") {
        MPI_Message message, kept;
        MPI_Send(numbers, 1, MPI_INT, 0, 0, self);
        MPI_Mprobe(0, 0, self, &message, MPI_STATUS_IGNORE);
        kept = message;
        MPI_Mrecv(numbers, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        return MPI_Mrecv(numbers, 1, MPI_INT, &kept, MPI_STATUS_IGNORE);
    }
    MPI_Irecv(numbers, 1, MPI_INT, 0, 0, self, &started);
    MPI_Request kept = started;
    MPI_Send(numbers + 4, 1, MPI_INT, 0, 0, self);
    MPI_Wait(&started, MPI_STATUS_IGNORE);
    return MPI_Wait(&kept, MPI_STATUS_IGNORE);
}

static int give_counts(const char *wish) {
    int two[] = {1, -1}, ones[] = {1, 1}, places[] = {0, 1}, *sent = two, *received = ones;
    MPI_Comm comm = MPI_COMM_WORLD;
    WISH("negative count of a gather")
        return MPI_Allgatherv(numbers, 1, MPI_INT, numbers + 4, two, places, MPI_INT, comm);
    WISH("negative count of a reduce-scatter")
        return MPI_Reduce_scatter(numbers, numbers + 4, two, MPI_INT, MPI_SUM, comm);
    WISH("negative count of a receive") sent = ones, received = two;
    return MPI_Alltoallv(numbers, sent, places, MPI_INT, numbers + 4, received, places, MPI_INT, comm);
}

// Makes a beginner's error: passes the number of elements of all blocks, where MPI expects the number of
// elements of one block.
static int give_blocks(const char *wish) {
    int all[] = {2, 2}, places[] = {0, 2};
    MPI_Comm comm = MPI_COMM_WORLD;
    WISH("blocks of allgather") return MPI_Allgather(numbers, 1, MPI_INT, numbers + 4, 2, MPI_INT, comm);
    WISH("blocks of allgatherv")
        return MPI_Allgatherv(numbers, 1, MPI_INT, numbers + 4, all, places, MPI_INT, comm);
    WISH("blocks of alltoall") return MPI_Alltoall(numbers, 1, MPI_INT, numbers + 4, 2, MPI_INT, comm);
    WISH("blocks of ialltoall")
        return MPI_Ialltoall(numbers, 2, MPI_INT, numbers + 4, 1, MPI_INT, comm, &started);
    return MPI_Allgather_init(numbers, 2, MPI_INT, numbers + 4, 1, MPI_INT, comm, MPI_INFO_NULL, &started);
}

static int call_handler(const char *wish) {
    WISH("handler called with a code of the program")
        return MPI_Comm_call_errhandler(MPI_COMM_WORLD, user_code());
    return MPI_Comm_call_errhandler(MPI_COMM_WORLD, 12345);
}

static int make(const char *wish) {
    int flag, *value;
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Status *none = MPI_STATUS_IGNORE;
    MPI_Group group;
    MPI_Info info;
    MPI_Win win;
    WISH("negative count") return MPI_Send(numbers, -1, MPI_INT, 0, 0, comm);
    WISH("rank too large") return MPI_Send(numbers, 1, MPI_INT, 2, 0, comm);
    WISH("negative rank") return MPI_Recv(numbers, 1, MPI_INT, -7, 0, comm, none);
    WISH("send to any source") return MPI_Send(numbers, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm);
    WISH("negative tag") return MPI_Send(numbers, 1, MPI_INT, 0, -3, comm);
    WISH("send with any tag") return MPI_Send(numbers, 1, MPI_INT, 0, MPI_ANY_TAG, comm);
    WISH("null communicator") return MPI_Send(numbers, 1, MPI_INT, 0, 0, MPI_COMM_NULL);
    WISH("freed communicator") return MPI_Barrier(freed_comm);
    WISH("no communicator") return MPI_Barrier((MPI_Comm)(size_t)0x7777777);
    if (strstr(wish, "communicator of another ABI")) return MPI_Barrier(comm_of_mpich(wish));
    WISH("datatype as communicator") return MPI_Barrier((MPI_Comm)MPI_INT);
    WISH("null datatype") return MPI_Send(numbers, 1, MPI_DATATYPE_NULL, 0, 0, comm);
    WISH("uncommitted datatype") return MPI_Send(numbers, 1, uncommitted, 0, 0, comm);
    WISH("freed datatype") return MPI_Send(numbers, 1, freed_type, 0, 0, comm);
    WISH("null buffer") return MPI_Send(NULL, 3, MPI_INT, 0, 0, comm);
    WISH("in place where it may not be") return MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, comm);
    WISH("root too large") return MPI_Bcast(numbers, 1, MPI_INT, 2, comm);
    WISH("negative root") return MPI_Reduce(numbers, numbers + 4, 1, MPI_INT, MPI_SUM, -1, comm);
    WISH("null operation") return MPI_Allreduce(numbers, numbers + 4, 1, MPI_INT, MPI_OP_NULL, comm);
    WISH("operation not for this datatype")
        return MPI_Allreduce(numbers, numbers + 4, 1, MPI_DOUBLE, MPI_BAND, comm);
    WISH("operation not for a derived datatype")
        return MPI_Allreduce(numbers, numbers + 4, 1, pair, MPI_SUM, comm);
    WISH("start of a null request") {
        started = MPI_REQUEST_NULL;
        return MPI_Start(&started);
    }
    WISH("cancel of a collective") {
        int own = 1;
        static int sum;
        MPI_Iallreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &started);
        int rank, code = MPI_SUCCESS;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (rank == 0) code = MPI_Cancel(&started);
        return code;
    }
    WISH("start twice") {
        MPI_Recv_init(numbers, 1, MPI_INT, 0, 0, comm, &started);
        MPI_Start(&started);
        return MPI_Start(&started);
    }
    WISH("group without such a rank") {
        int ranks[] = {0, 5};
        MPI_Comm_group(comm, &group);
        return MPI_Group_incl(group, 2, ranks, &group);
    }
    WISH("negative color") return MPI_Comm_split(comm, -7, 0, &freed_comm);
    WISH("freed key") return MPI_Comm_get_attr(comm, user_key(), &value, &flag);
    WISH("info key without a name") { MPI_Info_create(&info); return MPI_Info_set(info, "", "value"); }
    WISH("null info") return MPI_Info_set(MPI_INFO_NULL, "key", "value");
    WISH("bsend without a buffer") return MPI_Bsend(numbers, 1, MPI_INT, 0, 0, comm);
    WISH("buffer attached twice") {
        MPI_Buffer_attach(numbers, sizeof numbers);
        return MPI_Buffer_attach(numbers, sizeof numbers);
    }
    WISH("negative block length") return MPI_Type_contiguous(-2, MPI_INT, &pair);
    WISH("null pointer for a result") return MPI_Comm_rank(comm, NULL);
    WISH("function that is missing")
        return MPI_Win_create(numbers, sizeof numbers, 1, MPI_INFO_NULL, comm, &win);
    WISH("second initialisation") return MPI_Init(NULL, NULL);
    fprintf(stderr, "no such wish: %s\n", wish);
    exit(99);
}

int main(int count, char **words) {
    int rank, code, error_class, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    prepare();
    if (!strcmp(words[2], "return")) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    code = strstr(words[1], "a freed request") ? use_freed_request(words[1])
           : strstr(words[1], "after its end") ? use_ended(words[1])
           : strstr(words[1], "blocks of") ? give_blocks(words[1])
           : strstr(words[1], "negative count of") ? give_counts(words[1])
           : strstr(words[1], "handler called") ? call_handler(words[1])
                                                : make(words[1]);
    if (!strcmp(words[2], "fatal")) {
        printf("not reached\n");
        return 98;
    }
    MPI_Error_class(code, &error_class);
    MPI_Error_string(code, text, &length);
    if (rank == 0) printf("%d %s\n", error_class, text);
    MPI_Finalize();
    return 0;
}
