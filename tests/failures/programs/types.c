// types SENT RECEIVED [BYTES]: rank 0 sends elements of one datatype, rank 1 receives them as another; the error, if any, is printed.
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
    } else {  // "mixed": an int and a double; "turned": the other way round
        int turned = !strcmp(name, "turned");
        int blocks[2] = {1, 1};
        MPI_Aint places[2] = {0, 8};
        MPI_Datatype types[2] = {turned ? MPI_DOUBLE : MPI_INT, turned ? MPI_INT : MPI_DOUBLE};
        MPI_Type_create_struct(2, blocks, places, types, &made);
    }
    MPI_Type_commit(&made);
    return made;
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
    if (rank == 0) MPI_Send(memory, bytes / size, type, 1, 7, MPI_COMM_WORLD);
    if (rank == 1) {  // room for twice as many
        int code = MPI_Recv(memory, 2 * bytes / size, type, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
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
