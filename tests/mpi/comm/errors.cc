// Tests error handlers, codes and strings. After a failed call, all objects must remain usable.
#include "check.h"

#include <cstdarg>

namespace {

int calls = 0, last_code = 0;
MPI_Comm last_comm = MPI_COMM_NULL;

void handler(MPI_Comm *comm, int *code, ...) {
    ++calls;
    last_comm = *comm;
    last_code = *code;
}
void other_handler(MPI_Comm *, int *, ...) { calls += 100; }

std::string text_of(int code) {
    char text[MPI_MAX_ERROR_STRING];
    int length = -1;
    MPI_Error_string(code, text, &length);
    check_equal(static_cast<size_t>(length), std::strlen(text));
    return text;
}

// Makes a call that fails because the rank is too large.
int fail_on(MPI_Comm comm) {
    int data = 0;
    return MPI_Send(&data, 1, MPI_INT, size_of(comm) + 4, 0, comm);
}

void returned() {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int code = fail_on(comm);
    check_class(code, MPI_ERR_RANK);
    check(!text_of(code).empty());
    int data = 0;
    check_class(MPI_Send(&data, -1, MPI_INT, 0, 0, comm), MPI_ERR_COUNT);
    check_class(MPI_Send(&data, 1, MPI_INT, 0, -5, comm), MPI_ERR_TAG);
    check_class(MPI_Send(&data, 1, MPI_DATATYPE_NULL, 0, 0, comm), MPI_ERR_TYPE);
    check_class(MPI_Bcast(&data, 1, MPI_INT, size_of(comm), comm), MPI_ERR_ROOT);
    use(comm);
    MPI_Comm_free(&comm);
}

void called() {
    MPI_Errhandler made, got;
    MPI_Comm comm, copy;
    MPI_Comm_create_errhandler(handler, &made);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, made);
    MPI_Errhandler_free(&made);
    check(made == MPI_ERRHANDLER_NULL);
    calls = 0;
    check_class(fail_on(comm), MPI_ERR_RANK);
    check_equal(calls, 1);
    check(last_comm == comm);
    check_class(last_code, MPI_ERR_RANK);
    MPI_Comm_dup(comm, &copy);  // the copy inherits the handler
    fail_on(copy);
    check_equal(calls, 2);
    check(last_comm == copy);
    MPI_Comm_call_errhandler(copy, MPI_ERR_OTHER);
    check_equal(calls, 3);
    check_equal(last_code, MPI_ERR_OTHER);

    MPI_Comm_get_errhandler(comm, &got);  // `got` is a reference of its own
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    fail_on(comm);
    check_equal(calls, 3);
    MPI_Comm_set_errhandler(comm, got);
    MPI_Errhandler_free(&got);
    fail_on(comm);
    check_equal(calls, 4);
    MPI_Comm_create_errhandler(other_handler, &made);
    MPI_Comm_set_errhandler(copy, made);
    fail_on(copy);
    check_equal(calls, 104);
    MPI_Errhandler_free(&made);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&comm);
}

void predefined_handlers() {
    MPI_Errhandler got;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
    check(got == MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&got);
    for (MPI_Errhandler each : {MPI_ERRORS_RETURN, MPI_ERRORS_ABORT, MPI_ERRORS_ARE_FATAL}) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, each);
        MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
        check(got == each);
        MPI_Errhandler_free(&got);
    }
}

void codes() {
    int error_class, code, again, *last_used, flag;
    MPI_Add_error_class(&error_class);
    check(error_class > MPI_ERR_LASTCODE);
    check(text_of(error_class).empty());
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last_used, &flag);
    check(flag && *last_used >= error_class);
    MPI_Add_error_string(error_class, "out of tea");
    check(text_of(error_class) == "out of tea");
    MPI_Add_error_code(error_class, &code);
    check_class(code, error_class);
    MPI_Add_error_string(code, "no water either");
    check(text_of(code) == "no water either");
    MPI_Add_error_code(MPI_ERR_OTHER, &again);
    check_class(again, MPI_ERR_OTHER);
    for (int i = 0; i <= MPI_ERR_SPAWN; ++i) {
        check_class(i, i);
        check(!text_of(i).empty());
    }
}

void handles() {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int size;
    MPI_Comm made;
    check_class(MPI_Comm_size(MPI_COMM_NULL, &size), MPI_ERR_COMM);
    check_class(MPI_Comm_dup(MPI_COMM_NULL, &made), MPI_ERR_COMM);
    check_class(MPI_Comm_remote_size(MPI_COMM_WORLD, &size), MPI_ERR_COMM);
    MPI_Comm world = MPI_COMM_WORLD;
    check_class(MPI_Comm_free(&world), MPI_ERR_COMM);
    use(MPI_COMM_WORLD);
}

// Null pointers must cause errors and must not be dereferenced.
void null_pointers() {
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Op op;
    check_class(MPI_Op_create(nullptr, 1, &op), MPI_ERR_ARG);
    check_class(MPI_Op_create_c(nullptr, 1, &op), MPI_ERR_ARG);
    int value = 1, count;
    MPI_Request request;
    MPI_Isend(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    for (auto some : {MPI_Waitsome, MPI_Testsome})
        check_class(some(1, &request, &count, nullptr, MPI_STATUSES_IGNORE), MPI_ERR_ARG);
    check_class(MPI_Request_get_status_some(1, &request, &count, nullptr, MPI_STATUSES_IGNORE), MPI_ERR_ARG);
    MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    null_pointers();
    returned();
    called();
    predefined_handlers();
    codes();
    handles();
    MPI_Finalize();
}
