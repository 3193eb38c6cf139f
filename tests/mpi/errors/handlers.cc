// Tests error handlers of all kinds of objects, and the creation and removal of the program's own error
// classes, codes and strings. Errors before MPI_Init and after MPI_Finalize must reach the initial error
// handler, which is mpi_errors_return here.
#include "comm/check.h"

namespace {

std::string text_of(int code) {
    char text[MPI_MAX_ERROR_STRING] = "unchanged";
    int length = -1;
    check_equal(MPI_Error_string(code, text, &length), MPI_SUCCESS);
    return text;
}

void check_error(int code, int error_class, const char *word,
                 const std::source_location &where = std::source_location::current()) {
    check_class(code, error_class, where);
    check(text_of(code).find(word) != std::string::npos,
          "\"" + text_of(code) + "\" does not say \"" + word + "\"", where);
}

int last_used() {
    int *value = nullptr, flag = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag);
    check(flag && value);
    return *value;
}

void on_window(MPI_Win *, int *, ...) {}
int file_calls = 0, file_code = 0;
void on_file(MPI_File *file, int *code, ...) {
    check(*file == MPI_FILE_NULL);
    ++file_calls;
    file_code = *code;
}

// Error handlers for windows and files can be created and freed although no window or file exists.
// MPI_FILE_NULL has the default error handler of files.
void windows_and_files() {
    MPI_Errhandler of_window, of_file, got;
    check_equal(MPI_Win_create_errhandler(on_window, &of_window), MPI_SUCCESS);
    check_equal(MPI_File_create_errhandler(on_file, &of_file), MPI_SUCCESS);
    check_error(MPI_Comm_set_errhandler(MPI_COMM_SELF, of_file), MPI_ERR_ERRHANDLER, "not for communicators");
    MPI_File_get_errhandler(MPI_FILE_NULL, &got);
    check(got == MPI_ERRORS_RETURN, "the default of files");
    check_error(MPI_File_set_errhandler(MPI_FILE_NULL, of_window), MPI_ERR_ERRHANDLER, "not for files");
    check_equal(MPI_File_set_errhandler(MPI_FILE_NULL, of_file), MPI_SUCCESS);
    MPI_File_get_errhandler(MPI_FILE_NULL, &got);
    check(got == of_file);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&of_file);
    check(of_file == MPI_ERRHANDLER_NULL);
    check_equal(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO), MPI_SUCCESS);
    check_equal(file_calls, 1);
    check_equal(file_code, MPI_ERR_IO);
    MPI_Offset size;
    check_class(MPI_File_get_size(MPI_FILE_NULL, &size), MPI_ERR_FILE);
    check_equal(file_calls, 2);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&of_window);
    check_error(MPI_Errhandler_free(&of_window), MPI_ERR_ERRHANDLER, "MPI_ERRHANDLER_NULL");
}

void own_codes() {
    int error_class, other_class, code, standard;
    int before = last_used();
    MPI_Add_error_class(&error_class);
    MPI_Add_error_class(&other_class);
    check(error_class > MPI_ERR_LASTCODE && other_class != error_class);
    check_equal(last_used(), other_class);
    MPI_Add_error_code(error_class, &code);
    MPI_Add_error_code(MPI_ERR_TAG, &standard);
    check(last_used() >= standard && standard > before);
    check_class(code, error_class);
    check_class(standard, MPI_ERR_TAG);
    check(text_of(code).empty(), "a code without a string has an empty one");
    check_equal(MPI_Add_error_string(code, "first"), MPI_SUCCESS);
    check_equal(MPI_Add_error_string(code, "second"), MPI_SUCCESS);
    check_equal(MPI_Add_error_string(error_class, "of the class"), MPI_SUCCESS);
    check(text_of(code) == "second");
    check_error(MPI_Add_error_string(MPI_ERR_TAG, "mine"), MPI_ERR_ARG, "not an error class or code");
    check_error(MPI_Add_error_string(code, std::string(MPI_MAX_ERROR_STRING, 'x').c_str()), MPI_ERR_ARG,
                "characters");

    check_error(MPI_Remove_error_class(error_class), MPI_ERR_ARG, "codes");
    check_error(MPI_Remove_error_code(code), MPI_ERR_ARG, "string");
    check_error(MPI_Remove_error_code(error_class), MPI_ERR_ARG, "not an error code");
    check_error(MPI_Remove_error_class(MPI_ERR_TAG), MPI_ERR_ARG, "not an error class");
    check_error(MPI_Remove_error_string(MPI_ERR_TAG), MPI_ERR_ARG, "not an error");
    check_equal(MPI_Remove_error_string(code), MPI_SUCCESS);
    check(text_of(code).empty());
    check_error(MPI_Remove_error_string(code), MPI_ERR_ARG, "no string");
    check_equal(MPI_Remove_error_code(code), MPI_SUCCESS);
    check_error(MPI_Remove_error_class(error_class), MPI_ERR_ARG, "string");
    check_equal(MPI_Remove_error_string(error_class), MPI_SUCCESS);
    check_equal(MPI_Remove_error_class(error_class), MPI_SUCCESS);
    check_equal(MPI_Remove_error_class(other_class), MPI_SUCCESS);
    check_equal(MPI_Remove_error_code(standard), MPI_SUCCESS);

    char text[MPI_MAX_ERROR_STRING];
    int length;
    for (int gone : {code, error_class, standard, MPI_ERR_LASTCODE + 4711, -3})
        check_error(MPI_Error_string(gone, text, &length), MPI_ERR_ARG, "is not an error code");
    check_error(MPI_Add_error_code(error_class, &code), MPI_ERR_ARG, "not an error class");
}

// A user-defined error handler can change the error code. The call must return the changed code.
int own_code = 0;
void change(MPI_Comm *, int *code, ...) { *code = own_code; }

void changed_code() {
    int error_class;
    MPI_Comm comm;
    MPI_Errhandler handler;
    MPI_Add_error_class(&error_class);
    MPI_Add_error_code(error_class, &own_code);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_errhandler(change, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
    check_equal(MPI_Send(nullptr, 0, MPI_INT, 12, 0, comm), own_code);
    MPI_Comm_free(&comm);
    MPI_Remove_error_code(own_code);
    MPI_Remove_error_class(error_class);
}

int request_calls = 0, request_code = 0;
void on_request(MPI_Comm *comm, int *code, ...) {
    int rank;
    // The communicator still exists although the program has freed it.
    check_equal(MPI_Comm_rank(*comm, &rank), MPI_SUCCESS);
    ++request_calls;
    request_code = *code;
}

// If one of several requests fails, the error handler must get the code of that request. The communicator of
// a request must exist until the request is completed.
void of_requests() {
    for (bool several : {false, true}) {
        MPI_Comm comm;
        MPI_Errhandler handler;
        MPI_Comm_dup(MPI_COMM_SELF, &comm);
        MPI_Comm_create_errhandler(on_request, &handler);
        MPI_Comm_set_errhandler(comm, handler);
        MPI_Errhandler_free(&handler);
        int two[2] = {1, 2}, one = 0;
        MPI_Request requests[2];
        MPI_Status statuses[2];
        MPI_Irecv(&one, 1, MPI_INT, 0, 3, comm, &requests[0]);
        MPI_Isend(two, 2, MPI_INT, 0, 3, comm, &requests[1]);
        MPI_Comm_free(&comm);
        request_calls = 0;
        if (several) {
            check_equal(MPI_Waitall(2, requests, statuses), MPI_ERR_IN_STATUS);
            check_equal(request_code, statuses[0].MPI_ERROR);
        } else {
            check_equal(MPI_Wait(&requests[1], MPI_STATUS_IGNORE), MPI_SUCCESS);
            check_equal(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), request_code);
        }
        check_equal(request_calls, 1);
        check_class(request_code, MPI_ERR_TRUNCATE);
    }
}

}  // namespace

int main(int argc, char **argv) {
    int size;
    MPI_Info info;
    check_error(MPI_Comm_size(MPI_COMM_WORLD, &size), MPI_ERR_OTHER, "not initialised");
    MPI_Info_create(&info);
    check_error(MPI_Info_delete(info, "absent"), MPI_ERR_INFO_NOKEY, "absent");
    MPI_Info_free(&info);
    int error_class;
    check_equal(MPI_Add_error_class(&error_class), MPI_SUCCESS);
    check_equal(MPI_Remove_error_class(error_class), MPI_SUCCESS);

    MPI_Init(&argc, &argv);
    MPI_Errhandler first;
    for (MPI_Comm each : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
        MPI_Comm_get_errhandler(each, &first);
        check(first == MPI_ERRORS_RETURN, "the initial error handler");
    }
    windows_and_files();
    own_codes();
    changed_code();
    of_requests();
    use(MPI_COMM_WORLD);
    MPI_Finalize();

    check_error(MPI_Comm_size(MPI_COMM_WORLD, &size), MPI_ERR_OTHER, "finalised");
    check_error(MPI_Finalize(), MPI_ERR_OTHER, "finalised");
    check_error(MPI_Error_string(-1, nullptr, nullptr), MPI_ERR_ARG, "null pointer");
    return 0;
}
