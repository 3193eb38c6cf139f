// Tests small functions that report or store one fact: about the ABI and Fortran, handles as integers,
// removal of error codes, hints of a communicator, its topology and its parent, threads, and window keys.
#include "check.h"

#include <cstring>
#include <thread>
#include <vector>

namespace {

std::string get(MPI_Info info, const char *key) {
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int flag = 0, length = sizeof value;
    MPI_Info_get_string(info, key, &length, value, &flag);
    return flag ? value : "(absent)";
}

std::string text_of(int code) {
    char text[MPI_MAX_ERROR_STRING];
    int length = -1;
    MPI_Error_string(code, text, &length);
    check_equal(length, static_cast<int>(std::strlen(text)));
    return text;
}

void abi() {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Abi_get_info(&info);
    check(get(info, "mpi_aint_size") == std::to_string(sizeof(MPI_Aint)),
          "MPI_Abi_get_info gives another size of MPI_Aint");
    check(get(info, "mpi_count_size") == std::to_string(sizeof(MPI_Count)),
          "MPI_Abi_get_info gives another size of MPI_Count");
    check(get(info, "mpi_offset_size") == std::to_string(sizeof(MPI_Offset)),
          "MPI_Abi_get_info gives another size of MPI_Offset");
    MPI_Info_free(&info);
}

// A Fortran binding sets these facts once. After that, every caller must get the same values.
void fortran() {
    int is_true = -1, is_false = 0, got_true = 7, got_false = 7, known = -1;
    MPI_Abi_get_fortran_booleans(sizeof is_true, &got_true, &got_false, &known);
    check(!known && got_true == 7 && got_false == 7,
          "the values of LOGICAL are known before anybody told them");
    // The reductions do not support these values.
    check_class(MPI_Abi_set_fortran_booleans(sizeof is_true, &is_false, &is_true), MPI_ERR_ABI);
    check_equal(MPI_Abi_set_fortran_booleans(sizeof is_true, &is_true, &is_false), MPI_SUCCESS);
    MPI_Abi_get_fortran_booleans(sizeof is_true, &got_true, &got_false, &known);
    check(known && got_true == -1 && got_false == 0, "the values of LOGICAL are not those that were told");
    check_class(MPI_Abi_set_fortran_booleans(sizeof is_true, &is_true, &is_false), MPI_ERR_ABI);
    check_class(MPI_Abi_set_fortran_booleans(3, &is_true, &is_false), MPI_ERR_ARG);

    MPI_Info told, got = MPI_INFO_NULL;
    MPI_Abi_get_fortran_info(&got);
    check(got == MPI_INFO_NULL, "the facts about Fortran are known before anybody told them");
    MPI_Info_create(&told);
    MPI_Info_set(told, "mpi_integer_size", "8");  // not the size of MPI_INTEGER
    check_class(MPI_Abi_set_fortran_info(told), MPI_ERR_ABI);
    MPI_Info_set(told, "mpi_integer_size", "4");
    check_equal(MPI_Abi_set_fortran_info(told), MPI_SUCCESS);
    check_class(MPI_Abi_set_fortran_info(told), MPI_ERR_ABI);
    MPI_Info_free(&told);
    MPI_Abi_get_fortran_info(&got);
    check(get(got, "mpi_integer_size") == "4", "the facts about Fortran are not those that were told");
    MPI_Info_free(&got);
}

// A handle converted to an integer and back is the same handle. Different handles of a kind have different
// integers.
template <class Handle>
void convert(int (*to)(Handle), Handle (*from)(int), const std::vector<Handle> &handles,
             const std::source_location &where = std::source_location::current()) {
    for (Handle one : handles) {
        check(from(to(one)) == one, "a handle made an integer comes back as another handle", where);
        for (Handle other : handles)
            check((to(one) == to(other)) == (one == other), "two handles have one integer", where);
    }
}

void ignore_errors(MPI_Comm *, int *, ...) {}

void integers() {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Group group;
    MPI_Comm_group(comm, &group);
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Datatype type;
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Op op;
    MPI_Op_create([](void *, void *, int *, MPI_Datatype *) {}, 1, &op);
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(ignore_errors, &handler);
    MPI_Request request, sending;
    int sent = 5, received = 0;
    MPI_Isend(&sent, 1, MPI_INT, rank_in(comm), 1, comm, &sending);
    MPI_Message message;
    MPI_Mprobe(rank_in(comm), 1, comm, &message, MPI_STATUS_IGNORE);
    MPI_Recv_init(&received, 1, MPI_INT, 0, 2, comm, &request);

    convert(MPI_Comm_toint, MPI_Comm_fromint, {comm, MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL});
    convert(MPI_Group_toint, MPI_Group_fromint, {group, MPI_GROUP_EMPTY, MPI_GROUP_NULL});
    convert(MPI_Info_toint, MPI_Info_fromint, {info, MPI_INFO_ENV, MPI_INFO_NULL});
    convert(MPI_Type_toint, MPI_Type_fromint, {type, MPI_INT, MPI_DOUBLE, MPI_DATATYPE_NULL});
    convert(MPI_Op_toint, MPI_Op_fromint, {op, MPI_SUM, MPI_MAX, MPI_OP_NULL});
    convert(MPI_Errhandler_toint, MPI_Errhandler_fromint,
            {handler, MPI_ERRORS_RETURN, MPI_ERRORS_ARE_FATAL, MPI_ERRHANDLER_NULL});
    convert(MPI_Request_toint, MPI_Request_fromint, {request, MPI_REQUEST_NULL});
    convert(MPI_Message_toint, MPI_Message_fromint, {message, MPI_MESSAGE_NO_PROC, MPI_MESSAGE_NULL});
    convert(MPI_File_toint, MPI_File_fromint, {MPI_FILE_NULL});
    convert(MPI_Win_toint, MPI_Win_fromint, {MPI_WIN_NULL});
    convert(MPI_Session_toint, MPI_Session_fromint, {MPI_SESSION_NULL});
    use(MPI_Comm_fromint(MPI_Comm_toint(comm)));

    MPI_Message again = MPI_Message_fromint(MPI_Message_toint(message));
    MPI_Mrecv(&received, 1, MPI_INT, &again, MPI_STATUS_IGNORE);
    check_equal(received, 5);
    MPI_Wait(&sending, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    MPI_Errhandler_free(&handler);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    MPI_Info_free(&info);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
}

// Strings, codes and classes are removed in the reverse order of their creation. A code that still has a
// string, or a class that still has a code, must not be removed.
void removed_codes() {
    int error_class, code, of_standard, later;
    MPI_Add_error_class(&error_class);
    MPI_Add_error_string(error_class, "a class");
    MPI_Add_error_code(error_class, &code);
    MPI_Add_error_string(code, "a code");
    MPI_Add_error_code(MPI_ERR_OTHER, &of_standard);

    check_class(MPI_Remove_error_class(error_class), MPI_ERR_ARG);
    check_class(MPI_Remove_error_code(code), MPI_ERR_ARG);
    check_class(MPI_Remove_error_code(error_class), MPI_ERR_ARG);
    check_class(MPI_Remove_error_class(MPI_ERR_COMM), MPI_ERR_ARG);
    check_class(MPI_Remove_error_code(MPI_ERR_COMM), MPI_ERR_ARG);
    check_class(MPI_Remove_error_string(MPI_ERR_COMM), MPI_ERR_ARG);
    check(text_of(code) == "a code" && text_of(error_class) == "a class",
          "what could not be removed has changed");

    check_equal(MPI_Remove_error_string(code), MPI_SUCCESS);
    check(text_of(code).empty(), "a removed string is still there");
    check_class(code, error_class);
    check_equal(MPI_Remove_error_code(code), MPI_SUCCESS);
    check_class(MPI_Remove_error_code(code), MPI_ERR_ARG);
    check_class(code, MPI_ERR_UNKNOWN);
    check_class(MPI_Remove_error_class(error_class), MPI_ERR_ARG);
    check_equal(MPI_Remove_error_string(error_class), MPI_SUCCESS);
    check_equal(MPI_Remove_error_class(error_class), MPI_SUCCESS);
    check_class(MPI_Remove_error_class(error_class), MPI_ERR_ARG);
    check_class(MPI_Add_error_code(error_class, &later), MPI_ERR_ARG);
    check_class(of_standard, MPI_ERR_OTHER);
    check_equal(MPI_Remove_error_code(of_standard), MPI_SUCCESS);
}

void communicator() {
    MPI_Comm comm, parent = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Info hints, used;
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "mpi_assert_allow_overtaking", "false");
    MPI_Info_set(hints, "nobody_knows_this", "1");
    check_equal(MPI_Comm_set_info(comm, hints), MPI_SUCCESS);
    MPI_Info_free(&hints);
    MPI_Comm_get_info(comm, &used);
    check(used != MPI_INFO_NULL, "MPI_Comm_get_info gives no object");
    check(get(used, "nobody_knows_this") == "(absent)", "a hint that nobody uses is shown as used");
    check(get(used, "mpi_assert_allow_overtaking") != "true",
          "an assertion is shown that the program did not make");
    MPI_Info_free(&used);
    use(comm);

    int topology = -1;
    MPI_Topo_test(comm, &topology);
    check_equal(topology, MPI_UNDEFINED);
    MPI_Comm_get_parent(&parent);
    check(parent == MPI_COMM_NULL, "a process that mpirun started has a parent");
    MPI_Group remote;
    check_class(MPI_Comm_remote_group(MPI_COMM_WORLD, &remote), MPI_ERR_COMM);
    MPI_Comm_free(&comm);
}

void threads(int provided) {
    int level = -1, main_here = -1, main_there = -1, level_there = -1;
    MPI_Query_thread(&level);
    check_equal(level, provided);
    MPI_Is_thread_main(&main_here);
    std::thread([&] {
        MPI_Is_thread_main(&main_there);
        MPI_Query_thread(&level_there);
    }).join();
    check_equal(main_here, 1);
    check_equal(main_there, 0);
    check_equal(level_there, provided);
}

void window_keys() {
    int key = MPI_KEYVAL_INVALID, other = MPI_KEYVAL_INVALID;
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, nullptr);
    MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, &other, nullptr);
    check(key != MPI_KEYVAL_INVALID && other != MPI_KEYVAL_INVALID && key != other,
          "two keys of windows are one");
    int as_comm = key;
    check_class(MPI_Comm_free_keyval(&as_comm), MPI_ERR_KEYVAL);
    MPI_Win_free_keyval(&key);
    check_equal(key, MPI_KEYVAL_INVALID);
    MPI_Win_free_keyval(&other);
    check_class(MPI_Win_free_keyval(&other), MPI_ERR_KEYVAL);
}

}  // namespace

int main(int argc, char **argv) {
    int provided = -1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    abi();
    fortran();
    integers();
    removed_codes();
    communicator();
    threads(provided);
    window_keys();
    use(MPI_COMM_WORLD);
    MPI_Finalize();
}
