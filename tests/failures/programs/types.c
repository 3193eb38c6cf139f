// Rank 0 sends elements of the datatype SENT, and rank 1 receives them as elements of the datatype RECEIVED.
// Rank 1 uses MPI_Recv, or the calls that WAY names. It prints the error, if there is one.
//   types SENT RECEIVED BYTES [WAY]
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MPI_Datatype type_of(const char *name) {
    MPI_Datatype made;
    if (!strcmp(name, "int")) return MPI_INT;
    if (!strcmp(name, "int32")) return MPI_INT32_T;
    if (!strcmp(name, "float")) return MPI_FLOAT;
    if (!strcmp(name, "double")) return MPI_DOUBLE;
    if (!strcmp(name, "byte")) return MPI_BYTE;
    if (!strcmp(name, "packed")) return MPI_PACKED;
    if (!strcmp(name, "ints")) {
        MPI_Type_vector(2, 2, 3, MPI_INT, &made);
    } else {  // "mixed": an int, then a double; "turned": a double, then an int
        int turned = !strcmp(name, "turned");
        int blocks[2] = {1, 1};
        MPI_Aint places[2] = {0, 8};
        MPI_Datatype types[2] = {turned ? MPI_DOUBLE : MPI_INT, turned ? MPI_INT : MPI_DOUBLE};
        MPI_Type_create_struct(2, blocks, places, types, &made);
    }
    MPI_Type_commit(&made);
    return made;
}

#define WAY(word) if (!strcmp(way, word))

static void send(const char *way, void *memory, int count, MPI_Datatype type) {
    int none = 0;
    MPI_Request request;
    WAY("persistent") {
        MPI_Send_init(memory, count, type, 1, 7, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    } else WAY("sendrecv") {
        MPI_Sendrecv(memory, count, type, 1, 7, &none, 1, MPI_INT, MPI_PROC_NULL, 7, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    } else {
        MPI_Send(memory, count, type, 1, 7, MPI_COMM_WORLD);
    }
}

static int receive(const char *way, void *memory, int count, MPI_Datatype type) {
    int none = 0, code;
    MPI_Request request;
    MPI_Message message;
    MPI_Comm comm = MPI_COMM_WORLD;
    WAY("irecv") {
        MPI_Irecv(memory, count, type, 0, 7, comm, &request);
        return MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    WAY("waitall") {
        MPI_Status status;
        MPI_Irecv(memory, count, type, 0, 7, comm, &request);
        code = MPI_Waitall(1, &request, &status);
        return code == MPI_ERR_IN_STATUS ? status.MPI_ERROR : code;
    }
    WAY("mrecv") {
        MPI_Mprobe(0, 7, comm, &message, MPI_STATUS_IGNORE);
        return MPI_Mrecv(memory, count, type, &message, MPI_STATUS_IGNORE);
    }
    WAY("imrecv") {
        MPI_Mprobe(0, 7, comm, &message, MPI_STATUS_IGNORE);
        MPI_Imrecv(memory, count, type, &message, &request);
        return MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    WAY("persistent") {
        MPI_Recv_init(memory, count, type, 0, 7, comm, &request);
        MPI_Start(&request);
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
        return code;
    }
    WAY("sendrecv")
        return MPI_Sendrecv(&none, 1, MPI_INT, MPI_PROC_NULL, 7, memory, count, type, 0, 7, comm,
                            MPI_STATUS_IGNORE);
    return MPI_Recv(memory, count, type, 0, 7, comm, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int rank, bytes = atoi(argv[3]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Datatype type = type_of(argv[1 + (rank == 1)]);
    int size;
    MPI_Type_size(type, &size);
    char *memory = calloc((size_t)bytes, 4);
    const char *way = argc > 4 ? argv[4] : "recv";
    if (rank == 0) send(way, memory, bytes / size, type);
    if (rank == 1) {  // rank 1 has room for twice as many elements
        int code = receive(way, memory, 2 * bytes / size, type);
        if (code != MPI_SUCCESS) {
            char text[MPI_MAX_ERROR_STRING];
            int length, class;
            MPI_Error_class(code, &class);
            MPI_Error_string(code, text, &length);
            printf("%d %s\n", class, text);
        }
    }
    free(memory);
    int integers, addresses, datatypes, combiner;
    MPI_Type_get_envelope(type, &integers, &addresses, &datatypes, &combiner);
    if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}
