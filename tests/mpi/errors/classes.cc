// For each error class of the standard, makes a call that raises it, and checks that MPI_Error_string returns
// a message with a certain word. With --list, the program prints, without MPI, the classes that it raises and
// the classes that it omits. For each omitted class it also prints the reason, or the function that the
// library lacks. test_classes.py compares this list with mpi.h.
#include "comm/check.h"

// An allocation that fails must return a null pointer with sanitizers too, so that the library can report the
// lack of memory.
extern "C" [[gnu::visibility("default")]] const char *__asan_default_options() {
    return "allocator_may_return_null=1";
}
extern "C" [[gnu::visibility("default")]] const char *__tsan_default_options() {
    return "allocator_may_return_null=1";
}

namespace {

MPI_Comm comm;  // of all ranks, with MPI_ERRORS_RETURN
int value = 0;

int truncated(int *code) {
    int two[2] = {1, 2};
    MPI_Request request;
    MPI_Isend(two, 2, MPI_INT, rank_in(comm), 5, comm, &request);
    *code = MPI_Recv(&value, 1, MPI_INT, rank_in(comm), 5, comm, MPI_STATUS_IGNORE);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int truncate() {
    int code;
    check_equal(truncated(&code), MPI_SUCCESS);
    return code;
}

int in_status() {
    int two[2] = {1, 2};
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Irecv(&value, 1, MPI_INT, rank_in(comm), 5, comm, &requests[0]);
    MPI_Isend(two, 2, MPI_INT, rank_in(comm), 5, comm, &requests[1]);
    int code = MPI_Waitall(2, requests, statuses);
    check_class(statuses[0].MPI_ERROR, MPI_ERR_TRUNCATE);
    check_class(statuses[1].MPI_ERROR, MPI_SUCCESS);
    return code;
}

int start_what_is_not_persistent() {
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, comm, &request);
    int code = MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return code;
}

int delete_what_is_not_there() {
    MPI_Info info;
    MPI_Info_create(&info);
    int code = MPI_Info_delete(info, "absent");
    MPI_Info_free(&info);
    return code;
}

int set_info(const std::string &key, const std::string &text) {
    MPI_Info info;
    MPI_Info_create(&info);
    int code = MPI_Info_set(info, key.c_str(), text.c_str());
    MPI_Info_free(&info);
    return code;
}

int free_environment() {
    MPI_Info info = MPI_INFO_ENV;
    return MPI_Info_free(&info);
}

int allocate(MPI_Aint bytes) {
    void *memory = nullptr;
    return MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory);
}

void on_window(MPI_Win *, int *, ...) {}

int foreign_handler() {
    MPI_Errhandler handler;
    MPI_Win_create_errhandler(on_window, &handler);
    int code = MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
    return code;
}

int logicals_twice() {
    char yes[4] = {1}, no[4] = {0};
    MPI_Abi_set_fortran_booleans(4, yes, no);
    return MPI_Abi_set_fortran_booleans(4, yes, no);
}

int again() { return MPI_Init(nullptr, nullptr); }

int free_what_is_not_allocated() { return MPI_Free_mem(&value); }

int attribute() {
    void *found;
    int flag;
    return MPI_Comm_get_attr(comm, MPI_KEYVAL_INVALID, &found, &flag);
}

int sets() {
    int number;
    return MPI_Session_get_num_psets(MPI_SESSION_NULL, MPI_INFO_NULL, &number);
}

int no_group() {
    int size;
    return MPI_Group_size(MPI_GROUP_NULL, &size);
}

int no_comm() {
    int size;
    return MPI_Comm_size(MPI_COMM_NULL, &size);
}

int no_window() {
    MPI_Win window = MPI_WIN_NULL;
    return MPI_Win_free(&window);
}

int no_file() {
    MPI_Offset size;
    return MPI_File_get_size(MPI_FILE_NULL, &size);
}

int no_topology() {
    int dims, periods, coords;
    return MPI_Cart_get(comm, 1, &dims, &periods, &coords);
}

int odd_dims() {
    int dims[2] = {-1, 0};
    return MPI_Dims_create(4, 2, dims);
}

int what_is_missing() {
    MPI_Win window;
    return MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, comm, &window);
}

struct Raised {
    int error_class;
    const char *name;
    int (*raise)();
    const char *word;
};

#define CLASS(name) name, #name
const Raised raised[] = {
    {CLASS(MPI_ERR_BUFFER), [] { return MPI_Send(nullptr, 1, MPI_INT, 0, 0, comm); }, "null pointer"},
    {CLASS(MPI_ERR_COUNT), [] { return MPI_Send(&value, -1, MPI_INT, 0, 0, comm); }, "-1"},
    {CLASS(MPI_ERR_TYPE), [] { return MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, comm); },
     "MPI_DATATYPE_NULL"},
    {CLASS(MPI_ERR_TAG), [] { return MPI_Send(&value, 1, MPI_INT, 0, -5, comm); }, "-5"},
    {CLASS(MPI_ERR_COMM), no_comm, "MPI_COMM_NULL"},
    {CLASS(MPI_ERR_RANK), [] { return MPI_Send(&value, 1, MPI_INT, 4711, 0, comm); }, "4711"},
    {CLASS(MPI_ERR_REQUEST), start_what_is_not_persistent, "persistent"},
    {CLASS(MPI_ERR_ROOT), [] { return MPI_Bcast(&value, 1, MPI_INT, 4711, comm); }, "4711"},
    {CLASS(MPI_ERR_GROUP), no_group, "MPI_GROUP_NULL"},
    {CLASS(MPI_ERR_OP), [] { return MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_OP_NULL, comm); },
     "MPI_OP_NULL"},
    {CLASS(MPI_ERR_TOPOLOGY), no_topology, "topology"},
    {CLASS(MPI_ERR_DIMS), odd_dims, "-1"},
    {CLASS(MPI_ERR_ARG), [] { return MPI_Comm_split(comm, -7, 0, &comm); }, "-7"},
    {CLASS(MPI_ERR_TRUNCATE), truncate, "bytes"},
    {CLASS(MPI_ERR_OTHER), again, "initialised already"},
    {CLASS(MPI_ERR_IN_STATUS), in_status, "status"},
    {CLASS(MPI_ERR_BASE), free_what_is_not_allocated, "MPI_Alloc_mem"},
    {CLASS(MPI_ERR_FILE), no_file, "MPI_FILE_NULL"},
    {CLASS(MPI_ERR_INFO_KEY), [] { return set_info(std::string(MPI_MAX_INFO_KEY, 'k'), "v"); }, "characters"},
    {CLASS(MPI_ERR_INFO_NOKEY), delete_what_is_not_there, "absent"},
    {CLASS(MPI_ERR_INFO_VALUE), [] { return set_info("k", std::string(MPI_MAX_INFO_VAL, 'v')); },
     "characters"},
    {CLASS(MPI_ERR_INFO), free_environment, "MPI_INFO_ENV"},
    {CLASS(MPI_ERR_KEYVAL), attribute, "MPI_KEYVAL_INVALID"},
    {CLASS(MPI_ERR_NO_MEM), [] { return allocate(MPI_Aint{1} << 60); }, "memory"},
    {CLASS(MPI_ERR_SIZE), [] { return allocate(-8); }, "-8"},
    {CLASS(MPI_ERR_UNSUPPORTED_OPERATION), what_is_missing, "not implemented"},
    {CLASS(MPI_ERR_WIN), no_window, "MPI_WIN_NULL"},
    {CLASS(MPI_ERR_SESSION), sets, "MPI_SESSION_NULL"},
    {CLASS(MPI_ERR_ERRHANDLER), foreign_handler, "communicators"},
    {CLASS(MPI_ERR_ABI), logicals_twice, "set already"},
};

// A class that no function here raises. The text is the function that the library lacks, or "-" followed by
// the reason.
struct Left {
    const char *name, *function_or_reason;
};
const Left left[] = {
    {"MPI_ERR_UNKNOWN",
     "- no function fails with it: it is what MPI_Error_class says of a code that is none"},
    {"MPI_ERR_INTERN", "- the library stops the process where it finds itself broken"},
    {"MPI_ERR_PENDING", "- the calls on several requests wait for all of them, failed ones or not"},
    {"MPI_ERR_PROC_ABORTED", "- a process must be lost for it: tests/sim/dying_test.cc and tests/failures"},
    {"MPI_ERR_NOT_SAME", "MPI_File_open"},
    {"MPI_ERR_ACCESS", "MPI_File_open"},
    {"MPI_ERR_AMODE", "MPI_File_open"},
    {"MPI_ERR_BAD_FILE", "MPI_File_open"},
    {"MPI_ERR_FILE_EXISTS", "MPI_File_open"},
    {"MPI_ERR_FILE_IN_USE", "MPI_File_open"},
    {"MPI_ERR_NO_SUCH_FILE", "MPI_File_open"},
    {"MPI_ERR_NO_SPACE", "MPI_File_preallocate"},
    {"MPI_ERR_QUOTA", "MPI_File_preallocate"},
    {"MPI_ERR_READ_ONLY", "MPI_File_write"},
    {"MPI_ERR_IO", "MPI_File_read"},
    {"MPI_ERR_CONVERSION", "MPI_File_read"},
    {"MPI_ERR_DUP_DATAREP", "MPI_Register_datarep"},
    {"MPI_ERR_UNSUPPORTED_DATAREP", "MPI_File_set_view"},
    {"MPI_ERR_ASSERT", "MPI_Win_fence"},
    {"MPI_ERR_DISP", "MPI_Win_create"},
    {"MPI_ERR_LOCKTYPE", "MPI_Win_lock"},
    {"MPI_ERR_RMA_ATTACH", "MPI_Win_attach"},
    {"MPI_ERR_RMA_CONFLICT", "MPI_Put"},
    {"MPI_ERR_RMA_FLAVOR", "MPI_Win_shared_query"},
    {"MPI_ERR_RMA_RANGE", "MPI_Put"},
    {"MPI_ERR_VALUE_TOO_LARGE", "MPI_Win_shared_query"},
    {"MPI_ERR_RMA_SHARED", "MPI_Win_allocate_shared"},
    {"MPI_ERR_RMA_SYNC", "MPI_Win_fence"},
    {"MPI_ERR_NAME", "MPI_Lookup_name"},
    {"MPI_ERR_PORT", "MPI_Comm_connect"},
    {"MPI_ERR_SERVICE", "MPI_Unpublish_name"},
    {"MPI_ERR_SPAWN", "MPI_Comm_spawn"},
};

std::string text_of(int code) {
    char text[MPI_MAX_ERROR_STRING];
    int length = -1;
    check_equal(MPI_Error_string(code, text, &length), MPI_SUCCESS);
    check_equal(std::strlen(text), static_cast<size_t>(length));
    return text;
}

void try_one(const Raised &row) {
    int code = row.raise();
    std::string text = text_of(code);
    int error_class = -1;
    check_equal(MPI_Error_class(code, &error_class), MPI_SUCCESS);
    check(error_class == row.error_class, std::string("not ") + row.name + " but " + text);
    check(text.find(row.word) != std::string::npos,
          std::string(row.name) + ": \"" + text + "\" does not say \"" + row.word + "\"");
    // The class is also an error code, with a text of its own.
    check(text_of(row.error_class).rfind(std::string(row.name) + ": ", 0) == 0);
}

void list() {
    for (const Raised &row : raised) std::printf("raised %s\n", row.name);
    for (const Left &row : left) std::printf("left %s %s\n", row.name, row.function_or_reason);
}

}  // namespace

int main(int argc, char **argv) {
    if (argc > 1 && std::strcmp(argv[1], "--list") == 0) {
        list();
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (const Raised &row : raised) {
        try_one(row);
        use(comm);  // all objects must remain usable after a failed call
    }
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
