// Tests handles that the program has freed while their objects are still used by other objects or by
// operations under way. Every use of such a handle must be refused, including a second free. The object must
// still complete its work.
#include "comm/check.h"

namespace {

int words_of_type_in_op = 0;

// A reduction operation that queries its datatype. The program freed the handle of this datatype while the
// operation was under way.
void add(void *in, void *inout, int *count, MPI_Datatype *type) {
    int size = -1;
    check_equal(MPI_Type_size(*type, &size), MPI_SUCCESS);
    words_of_type_in_op = size / static_cast<int>(sizeof(int));
    auto *from = static_cast<const int *>(in);
    auto *to = static_cast<int *>(inout);
    for (int i = 0; i < *count * words_of_type_in_op; ++i) to[i] += from[i];
}

void type_in_type() {
    MPI_Datatype inner, outer, stale;
    MPI_Type_contiguous(3, MPI_INT, &inner);
    MPI_Type_commit(&inner);
    stale = inner;
    MPI_Type_vector(2, 1, 2, inner, &outer);
    MPI_Type_commit(&outer);
    MPI_Type_free(&inner);
    for (int i = 0; i < 3; ++i) {
        MPI_Datatype again = stale;
        check_class(MPI_Type_free(&again), MPI_ERR_TYPE);
    }
    int size = -1;
    check_class(MPI_Type_size(stale, &size), MPI_ERR_TYPE);
    int from[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8}, to[6] = {};
    check_equal(MPI_Sendrecv(from, 1, outer, 0, 0, to, 6, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE),
                MPI_SUCCESS);
    check(to[2] == 2 && to[3] == 6 && to[5] == 8, "the outer type lost its inner one");
    int integers[4];
    MPI_Datatype held;
    MPI_Aint addresses[1];
    MPI_Type_get_contents(outer, 3, 0, 1, integers, addresses, &held);
    check_equal(MPI_Type_size(held, &size), MPI_SUCCESS);
    check_equal(size, 12);
    MPI_Type_free(&held);
    MPI_Type_free(&outer);
}

void type_and_comm_in_receive() {
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_commit(&type);
    int rank = rank_in(comm), size = size_of(comm), to[2] = {};
    MPI_Irecv(to, 1, type, (rank + size - 1) % size, 0, comm, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    int from[2] = {rank, 17};
    MPI_Send(from, 1, type, (rank + 1) % size, 0, comm);
    MPI_Comm stale_comm = comm;
    MPI_Datatype stale_type = type;
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
    check_class(MPI_Type_free(&stale_type), MPI_ERR_TYPE);
    int asked;
    check_class(MPI_Comm_rank(stale_comm, &asked), MPI_ERR_COMM);
    check_class(MPI_Comm_free(&stale_comm), MPI_ERR_COMM);
    check_equal(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    check(to[0] == (rank + size - 1) % size && to[1] == 17, "the message was lost");
}

void type_and_op_in_reduction() {
    MPI_Op op;
    MPI_Datatype type;
    MPI_Request request;
    MPI_Op_create(add, 1, &op);
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_commit(&type);
    int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
    int mine[2] = {rank, 1}, sum[2] = {};
    MPI_Allreduce_init(mine, sum, 1, type, op, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Op stale_op = op;
    MPI_Datatype stale_type = type;
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    check_class(MPI_Op_free(&stale_op), MPI_ERR_OP);
    check_class(MPI_Type_free(&stale_type), MPI_ERR_TYPE);
    int commutes;
    check_class(MPI_Op_commutative(stale_op, &commutes), MPI_ERR_OP);
    for (int i = 0; i < 3; ++i) {
        sum[0] = sum[1] = -1;
        check_equal(MPI_Start(&request), MPI_SUCCESS);
        check_equal(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
        check_equal(sum[0], size * (size - 1) / 2);
        check_equal(sum[1], size);
    }
    MPI_Allreduce(MPI_IN_PLACE, &words_of_type_in_op, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    check(size == 1 || words_of_type_in_op == 2, "no rank called the operation");
    MPI_Request_free(&request);
}

int handled = 0;
void count(MPI_Comm *, int *, ...) { ++handled; }

void handler_in_comm() {
    MPI_Comm comm;
    MPI_Errhandler handler, second, stale;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_errhandler(count, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    stale = handler;
    MPI_Comm_get_errhandler(comm, &second);
    MPI_Errhandler_free(&handler);
    // `second` is a different handle of the same object.
    check_equal(MPI_Comm_set_errhandler(comm, second), MPI_SUCCESS);
    MPI_Errhandler_free(&second);
    check_class(MPI_Errhandler_free(&stale), MPI_ERR_ERRHANDLER);
    check_class(MPI_Comm_set_errhandler(MPI_COMM_SELF, stale), MPI_ERR_ERRHANDLER);
    MPI_Send(nullptr, 0, MPI_INT, 12, 0, comm);
    check_equal(handled, 1);
    MPI_Comm_get_errhandler(comm, &second);
    MPI_Comm_free(&comm);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, second);
    MPI_Errhandler_free(&second);
    MPI_Send(nullptr, 0, MPI_INT, 12, 0, MPI_COMM_SELF);
    check_equal(handled, 2);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

void group_in_comm() {
    MPI_Comm comm;
    MPI_Group group, stale;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    stale = group;
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 3, &comm);
    MPI_Group_free(&group);
    int size;
    check_class(MPI_Group_size(stale, &size), MPI_ERR_GROUP);
    check_class(MPI_Group_free(&stale), MPI_ERR_GROUP);
    use(comm);
    MPI_Comm_free(&comm);
}

void request_under_way() {
    int got = 0, sent = 5, flag;
    MPI_Request request, stale;
    MPI_Irecv(&got, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &request);
    stale = request;
    MPI_Request_free(&request);
    check(request == MPI_REQUEST_NULL);
    MPI_Request again = stale;
    check_class(MPI_Wait(&again, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    check_class(MPI_Test(&again, &flag, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    check_class(MPI_Waitall(1, &again, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
    check_class(MPI_Request_get_status(again, &flag, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    check_class(MPI_Cancel(&again), MPI_ERR_REQUEST);
    check_class(MPI_Request_free(&again), MPI_ERR_REQUEST);
    MPI_Send(&sent, 1, MPI_INT, 0, 9, MPI_COMM_SELF);
    // The empty message below arrives after the one to `got`.
    MPI_Sendrecv(nullptr, 0, MPI_INT, 0, 10, nullptr, 0, MPI_INT, 0, 10, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    check_equal(got, 5);
}

// A receive that has failed is freed, and no call returns its error. The next receive may use its memory and
// must not return that error.
void failed_request() {
    for (bool from_nobody : {false, true}) {
        int got[2] = {}, sent[2] = {6, 7}, flag = 0;
        MPI_Request request;
        MPI_Send(sent, 2, MPI_INT, 0, 11, MPI_COMM_SELF);
        MPI_Irecv(got, 1, MPI_INT, 0, 11, MPI_COMM_SELF, &request);
        while (!flag) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
        MPI_Send(sent + 1, 1, MPI_INT, 0, 12, MPI_COMM_SELF);
        if (from_nobody) {
            MPI_Irecv(got, 1, MPI_INT, MPI_PROC_NULL, 12, MPI_COMM_SELF, &request);
            check_equal(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
        }
        MPI_Irecv(got, 1, MPI_INT, 0, 12, MPI_COMM_SELF, &request);
        check_equal(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
        check_equal(got[0], 7);
    }
}

void free_comm(MPI_Comm *comm, int *, ...) {
    MPI_Comm copy = *comm;
    MPI_Comm_free(&copy);
}

// The error handler frees its communicator.
void freed_by_handler() {
    MPI_Comm comm;
    MPI_Errhandler handler;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_errhandler(free_comm, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
    MPI_Send(nullptr, 0, MPI_INT, 12, 0, comm);
    int rank;
    check_class(MPI_Comm_rank(comm, &rank), MPI_ERR_COMM);
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int round = 0; round < 3; ++round) {
        handled = 0;
        type_in_type();
        type_and_comm_in_receive();
        type_and_op_in_reduction();
        handler_in_comm();
        group_in_comm();
        request_under_way();
        failed_request();
        freed_by_handler();
    }
    MPI_Finalize();
}
