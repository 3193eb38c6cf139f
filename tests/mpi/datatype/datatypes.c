/* Tests datatypes, packing and operations through the C interface on one process: what they report about
 * themselves, what arrives in a message to the same process, and the errors for calls that are not allowed.
 * Exits with 0 if everything conforms to the standard. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define EXPECT(condition)                                                      \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            ++failures;                                                        \
        }                                                                      \
    } while (0)

static int class_of(int code) {
    int error_class = -1;
    MPI_Error_class(code, &error_class);
    return error_class;
}

static void describe_themselves(void) {
    MPI_Datatype column, types[1];
    int size, integers[3], counts[4], combiner, length;
    MPI_Aint lb, extent, addresses[1];
    MPI_Count many[4], large[3];
    char name[MPI_MAX_OBJECT_NAME];

    MPI_Type_vector(4, 1, 5, MPI_DOUBLE, &column);
    MPI_Type_size(column, &size);
    MPI_Type_get_extent(column, &lb, &extent);
    EXPECT(size == 32 && lb == 0 && extent == 16 * 8);
    MPI_Type_get_envelope(column, &counts[0], &counts[1], &counts[2], &combiner);
    EXPECT(counts[0] == 3 && counts[1] == 0 && counts[2] == 1 && combiner == MPI_COMBINER_VECTOR);
    MPI_Type_get_contents(column, 3, 0, 1, integers, addresses, types);
    EXPECT(integers[0] == 4 && integers[1] == 1 && integers[2] == 5 && types[0] == MPI_DOUBLE);
    MPI_Type_get_name(column, name, &length);
    EXPECT(length == 0 && name[0] == 0);
    MPI_Type_set_name(column, "column");
    MPI_Type_get_name(column, name, &length);
    EXPECT(length == 6 && strcmp(name, "column") == 0);
    MPI_Type_free(&column);
    EXPECT(column == MPI_DATATYPE_NULL);

    MPI_Type_vector_c(4, 1, 5, MPI_DOUBLE, &column);
    MPI_Type_get_envelope_c(column, &many[0], &many[1], &many[2], &many[3], &combiner);
    EXPECT(many[0] == 0 && many[1] == 0 && many[2] == 3 && many[3] == 1);
    MPI_Type_get_contents_c(column, 0, 0, 3, 1, integers, addresses, large, types);
    EXPECT(large[0] == 4 && large[1] == 1 && large[2] == 5);
    EXPECT(class_of(MPI_Type_get_envelope(column, &counts[0], &counts[1], &counts[2], &combiner)) ==
           MPI_ERR_TYPE);
    MPI_Type_free(&column);

    MPI_Type_get_name(MPI_LONG_DOUBLE_INT, name, &length);
    EXPECT(strcmp(name, "MPI_LONG_DOUBLE_INT") == 0);
    MPI_Type_contiguous_c((MPI_Count)1 << 31, MPI_DOUBLE, &column);
    MPI_Type_size(column, &size);
    EXPECT(size == MPI_UNDEFINED);
    MPI_Type_free(&column);
}

static void move_columns(void) {
    double matrix[6][5], arrived[6] = {0};
    MPI_Datatype column;
    MPI_Status status;
    int count;
    for (int i = 0; i < 30; ++i) matrix[i / 5][i % 5] = i;
    MPI_Type_vector(6, 1, 5, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Sendrecv(&matrix[0][2], 1, column, 0, 1, arrived, 6, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &status);
    for (int i = 0; i < 6; ++i) EXPECT(arrived[i] == 5 * i + 2);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    EXPECT(count == 6);
    MPI_Get_count(&status, column, &count);
    EXPECT(count == 1);
    MPI_Sendrecv(arrived, 4, MPI_DOUBLE, 0, 1, &matrix[0][0], 1, column, 0, 1, MPI_COMM_SELF, &status);
    EXPECT(matrix[3][0] == 17 && matrix[4][0] == 20);
    MPI_Get_count(&status, column, &count);
    EXPECT(count == MPI_UNDEFINED);
    MPI_Get_elements(&status, column, &count);
    EXPECT(count == 4);
    MPI_Type_free(&column);
}

static void pack_and_unpack(void) {
    struct {
        int integer;
        double number;
    } from = {7, 2.5}, to = {0, 0};
    char room[64];
    int position = 0, size, lengths[2] = {1, 1};
    MPI_Aint places[2] = {0, 8}, outside = 0, size_outside;
    MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, record;
    MPI_Type_create_struct(2, lengths, places, types, &record);
    MPI_Type_commit(&record);
    MPI_Pack_size(1, record, MPI_COMM_SELF, &size);
    EXPECT(size >= 12 && size <= 64);
    MPI_Pack(&from, 1, record, room, sizeof room, &position, MPI_COMM_SELF);
    size = position;
    position = 0;
    MPI_Unpack(room, size, &position, &to, 1, record, MPI_COMM_SELF);
    EXPECT(position == size && to.integer == 7 && to.number == 2.5);
    EXPECT(class_of(MPI_Pack(&from, 9, record, room, sizeof room, &position, MPI_COMM_SELF)) ==
           MPI_ERR_TRUNCATE);

    MPI_Pack_external_size("external32", 1, record, &size_outside);
    EXPECT(size_outside == 12);
    MPI_Pack_external("external32", &from, 1, record, room, sizeof room, &outside);
    EXPECT(outside == 12 && memcmp(room, "\0\0\0\7\100\4\0\0\0\0\0\0", 12) == 0);
    outside = to.integer = 0;
    MPI_Unpack_external("external32", room, 12, &outside, &to, 1, record);
    EXPECT(to.integer == 7 && to.number == 2.5);
    MPI_Type_free(&record);
}

static void largest(void *in, void *inout, int *count, MPI_Datatype *datatype) {
    int size;
    MPI_Type_size(*datatype, &size);
    if (size != 8) ++failures;
    for (int i = 0; i < *count; ++i)
        if (((int *)in)[2 * i] > ((int *)inout)[2 * i]) memcpy((int *)inout + 2 * i, (int *)in + 2 * i, 8);
}

static void reduce_locally(void) {
    MPI_Op op, commuting;
    MPI_Datatype two;
    int in[4] = {1, 10, 9, 90}, inout[4] = {5, 50, 6, 60}, flag;
    MPI_Op_create(largest, 0, &op);
    MPI_Op_commutative(op, &flag);
    EXPECT(flag == 0);
    MPI_Op_create(largest, 1, &commuting);
    MPI_Op_commutative(commuting, &flag);
    EXPECT(flag == 1);
    MPI_Op_free(&commuting);
    MPI_Op_commutative(MPI_SUM, &flag);
    EXPECT(flag == 1);
    MPI_Op_commutative(MPI_REPLACE, &flag);
    EXPECT(flag == 0);
    MPI_Type_contiguous(2, MPI_INT, &two);
    MPI_Type_commit(&two);
    MPI_Reduce_local(in, inout, 2, two, op);
    EXPECT(inout[0] == 5 && inout[1] == 50 && inout[2] == 9 && inout[3] == 90);
    EXPECT(class_of(MPI_Reduce_local(in, inout, 2, two, MPI_SUM)) == MPI_ERR_OP);
    EXPECT(class_of(MPI_Reduce_local(in, inout, 2, MPI_BYTE, MPI_SUM)) == MPI_ERR_OP);
    MPI_Reduce_local(in, inout, 4, MPI_INT, MPI_SUM);
    EXPECT(inout[0] == 6 && inout[3] == 180);
    MPI_Type_free(&two);
    MPI_Op_free(&op);
    EXPECT(op == MPI_OP_NULL);
    op = MPI_SUM;
    EXPECT(class_of(MPI_Op_free(&op)) == MPI_ERR_OP);
}

static void refuse(void) {
    MPI_Datatype type = MPI_INT, made, old;
    int x = 0;
    EXPECT(class_of(MPI_Type_free(&type)) == MPI_ERR_TYPE);
    EXPECT(class_of(MPI_Type_contiguous(-1, MPI_INT, &made)) == MPI_ERR_COUNT);
    EXPECT(class_of(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &made)) == MPI_ERR_TYPE);
    MPI_Type_contiguous(1, MPI_INT, &made);
    /* The datatype is not committed. */
    EXPECT(class_of(MPI_Send(&x, 1, made, MPI_PROC_NULL, 0, MPI_COMM_SELF)) == MPI_ERR_TYPE);
    old = made;
    MPI_Type_free(&made);
    EXPECT(class_of(MPI_Type_commit(&old)) == MPI_ERR_TYPE);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    describe_themselves();
    move_columns();
    pack_and_unpack();
    reduce_locally();
    refuse();
    MPI_Finalize();
    return failures != 0;
}
