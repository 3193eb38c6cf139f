// Functions of the program throw in several threads at once. Each exception must leave a call of the thread
// whose operation it concerns, whichever thread ran the function. If a thread ends in an error handler or in
// an attribute function, the other threads must still be able to use MPI.
#include <pthread.h>

#include <thread>

#include "errors/thrown.h"
#include "threads/crew.h"

namespace {

// A reduction operation that throws the number of the thread that started the reduction. This number is the
// first element of the data.
void refuse(void *in, void *, int *, MPI_Datatype *) { throw Thrown(*static_cast<int *>(in)); }

void throwing_handler(MPI_Comm *comm, int *, ...) {
    int *number, flag;
    MPI_Comm_get_attr(*comm, MPI_TAG_UB, &number, &flag);  // the handler may call MPI
    throw Thrown(-1);
}

void throw_in_thread(int thread, MPI_Comm comm, MPI_Op op) {
    int size = size_of(comm), sum = 0, number = thread;
    for (int round = 0; round < 200; ++round) {
        must_throw(-1, [&] { MPI_Send(&number, 1, MPI_INT, size, 0, comm); });
        MPI_Request request;
        MPI_Iallreduce(&number, &sum, 1, MPI_INT, op, comm, &request);
        bool threw = throws(thread, [&] { MPI_Wait(&request, MPI_STATUS_IGNORE); });
        int some = threw, any = 0;
        MPI_Allreduce(&some, &any, 1, MPI_INT, MPI_MAX, comm);
        check_equal(any, size > 1);
    }
    use(comm);
}

[[noreturn]] void ending_handler(MPI_Comm *, int *, ...) { pthread_exit(nullptr); }
[[noreturn]] int ending_copy(MPI_Datatype, int, void *, void *, void *, int *) { pthread_exit(nullptr); }

void end_in_function(int thread, MPI_Comm comm) {
    struct Unwound {
        bool &yes;
        ~Unwound() { yes = true; }
    };
    bool unwound = false;
    std::thread one([&] {
        Unwound scope{unwound};
        MPI_Datatype type;
        int keyval, number = thread;
        if (thread % 2) MPI_Send(&number, 1, MPI_INT, size_of(comm), 0, comm);
        MPI_Type_create_keyval(ending_copy, MPI_TYPE_NULL_DELETE_FN, &keyval, nullptr);
        MPI_Type_contiguous(2, MPI_INT, &type);
        MPI_Type_set_attr(type, keyval, &number);
        MPI_Type_dup(type, &type);
        check(false, "the thread goes on");
    });
    one.join();
    check(unwound, "what is on the thread's stack was not destroyed");
    use(comm);
}

}  // namespace

int main(int argc, char **argv) {
    begin(argc, argv);
    MPI_Op op;
    MPI_Op_create(refuse, 1, &op);
    MPI_Errhandler thrower, ender;
    MPI_Comm_create_errhandler(throwing_handler, &thrower);
    MPI_Comm_create_errhandler(ending_handler, &ender);
    std::vector<MPI_Comm> comms(threads);
    for (MPI_Comm &comm : comms) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, thrower);
    }
    all_together([&](int thread) { throw_in_thread(thread, comms[static_cast<size_t>(thread)], op); });
    for (MPI_Comm comm : comms) MPI_Comm_set_errhandler(comm, ender);
    all_together([&](int thread) { end_in_function(thread, comms[static_cast<size_t>(thread)]); });
    for (MPI_Comm &comm : comms) MPI_Comm_free(&comm);
    MPI_Errhandler_free(&thrower);
    MPI_Errhandler_free(&ender);
    MPI_Op_free(&op);
    MPI_Finalize();
    return 0;
}
