// Contains functions that MPI calls and that throw an exception or end their thread.
//   thrown WHAT     WHAT names the function
#include <mpi.h>
#include <pthread.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace {

const char *what = "";
bool is(const char *name) { return std::strcmp(what, name) == 0; }

void leave(const char *function) { throw std::runtime_error(std::string("thrown by ") + function); }

void operation(void *, void *, int *, MPI_Datatype *) {
    if (is("ended-operation")) pthread_exit(nullptr);
    leave("an operation");
}
void handler(MPI_Comm *, int *, ...) { leave("an error handler"); }
int remove(MPI_Comm, int, void *, void *) {
    leave("a delete function");
    return MPI_SUCCESS;
}
void event(MPI_T_event_instance, MPI_T_event_registration, MPI_T_cb_safety, void *) {
    leave("an event function");
}

void reduce() {
    int one = 1, sum;
    MPI_Op op;
    MPI_Op_create(operation, 1, &op);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
}

void send_wrongly() { MPI_Send(nullptr, 0, MPI_INT, 1000, 0, MPI_COMM_WORLD); }

// Makes calls that are counted in a profile. An exception ends some of them.
void profiled() {
    for (int i = 0; i < 3; ++i) try {
            send_wrongly();
        } catch (const std::exception &) {
        }
    for (int i = 0; i < 5; ++i) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}

void unexpected_messages() {
    int provided, index, number = 0, rank;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_T_event_registration registration;
    MPI_T_event_get_index("p2p_unexpected_message", &index);
    MPI_T_event_handle_alloc(index, &world, MPI_INFO_NULL, &registration);
    MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, nullptr, event);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    try {
        MPI_Send(&number, 1, MPI_INT, rank, 1, MPI_COMM_WORLD);
        MPI_Recv(&number, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } catch (const std::exception &) {
        std::puts("not reached");
    }
}

}  // namespace

int main(int argc, char **argv) {
    what = argv[1];
    MPI_Init(&argc, &argv);
    MPI_Errhandler made;
    MPI_Comm_create_errhandler(handler, &made);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, made);
    if (is("profiled")) return profiled(), 0;
    if (is("event")) unexpected_messages();
    if (is("operation")) reduce();
    if (is("ended-operation")) std::thread(reduce).join();
    if (is("handler")) send_wrongly();
    if (is("delete")) {
        int keyval;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, remove, &keyval, nullptr);
        MPI_Comm_set_attr(MPI_COMM_SELF, keyval, nullptr);
        MPI_Comm_delete_attr(MPI_COMM_SELF, keyval);
    }
    std::puts("not reached");
    return 0;
}
