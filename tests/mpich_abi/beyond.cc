// Tests the parts of the MPICH ABI that the standard's ABI does not have: conversions for Fortran, variables,
// and names that MPI-3.0 removed. Runs with any number of ranks.
#include "mpi/comm/check.h"

namespace {

// In this ABI, handles are integers in C already. The conversions must not change them, and the result must
// stand for the same object.
void handles_for_fortran() {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    use(MPI_Comm_f2c(MPI_Comm_c2f(copy)));
    check_equal(MPI_Comm_toint(copy), MPI_Comm_c2f(copy));
    check_equal(MPI_Comm_fromint(MPI_Comm_c2f(copy)), copy);
    MPI_Comm_free(&copy);
    check_equal(MPI_Type_f2c(MPI_Type_c2f(MPI_DOUBLE)), MPI_DOUBLE);
    check_equal(MPI_Op_f2c(MPI_Op_c2f(MPI_MAX)), MPI_MAX);
    check_equal(MPI_Group_f2c(MPI_Group_c2f(MPI_GROUP_EMPTY)), MPI_GROUP_EMPTY);
    check_equal(MPI_Info_f2c(MPI_Info_c2f(MPI_INFO_ENV)), MPI_INFO_ENV);
    check_equal(MPI_Errhandler_f2c(MPI_Errhandler_c2f(MPI_ERRORS_RETURN)), MPI_ERRORS_RETURN);
    check_equal(MPI_Request_f2c(MPI_Request_c2f(MPI_REQUEST_NULL)), MPI_REQUEST_NULL);
    check_equal(MPI_Message_f2c(MPI_Message_c2f(MPI_MESSAGE_NO_PROC)), MPI_MESSAGE_NO_PROC);
    check_equal(MPI_Win_f2c(MPI_Win_c2f(MPI_WIN_NULL)), MPI_WIN_NULL);
    check_equal(MPI_Session_f2c(MPI_Session_c2f(MPI_SESSION_NULL)), MPI_SESSION_NULL);
    check(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
}

void statuses_for_fortran() {
    MPI_Status status{};
    MPI_Status_set_source(&status, 3);
    MPI_Status_set_tag(&status, 44);
    MPI_Status_set_elements_x(&status, MPI_BYTE, MPI_Count{5} << 33);
    MPI_Status_set_cancelled(&status, 1);
    MPI_Fint in_fortran[MPI_F_STATUS_SIZE], in_f08[MPI_F_STATUS_SIZE];
    check_equal(MPI_Status_c2f(&status, in_fortran), MPI_SUCCESS);
    check_equal(in_fortran[MPI_F_SOURCE], 3);
    check_equal(in_fortran[MPI_F_TAG], 44);
    check_equal(MPI_Status_f2f08(in_fortran, in_f08), MPI_SUCCESS);
    MPI_Fint again[MPI_F_STATUS_SIZE] = {};
    check_equal(MPI_Status_f082f(in_f08, again), MPI_SUCCESS);
    check(std::memcmp(again, in_fortran, sizeof again) == 0);
    MPI_Status back{}, from_f08{};
    check_equal(MPI_Status_f2c(in_fortran, &back), MPI_SUCCESS);
    check_equal(MPI_Status_f082c(in_f08, &from_f08), MPI_SUCCESS);
    check_equal(MPI_Status_c2f08(&from_f08, in_f08), MPI_SUCCESS);
    for (MPI_Status *each : {&back, &from_f08}) {
        MPI_Count elements = 0;
        int cancelled = 0;
        MPI_Get_elements_x(each, MPI_BYTE, &elements);
        MPI_Test_cancelled(each, &cancelled);
        check_equal(elements, MPI_Count{5} << 33);
        check(cancelled);
    }
    // MPI_STATUS_IGNORE and MPI_F_STATUS_IGNORE stand for no status, so converting them is an error.
    check(MPI_F_STATUS_IGNORE && MPI_F_STATUSES_IGNORE && MPI_F_STATUS_IGNORE != MPI_F_STATUSES_IGNORE);
    check_class(MPI_Status_f2c(MPI_F_STATUS_IGNORE, &back), MPI_ERR_ARG);
    check_class(MPI_Status_c2f(MPI_STATUS_IGNORE, in_fortran), MPI_ERR_ARG);
}

void variables() {
    check(MPI_UNWEIGHTED && MPI_WEIGHTS_EMPTY && MPI_UNWEIGHTED != MPI_WEIGHTS_EMPTY);
    check(MPI_T_PVAR_ALL_HANDLES != MPI_T_PVAR_HANDLE_NULL);
    int major = 0, minor = 0;
    check_equal(MPI_Abi_get_version(&major, &minor), MPI_SUCCESS);
    check(major == -1 && minor == -1, "this is not the standard's ABI");
}

void removed_datatypes() {
    struct Pair {
        double value;
        int index;
    } pair = {2.5, 7}, got = {0, 0};
    MPI_Aint value, index, lower = -1, upper = -1, extent = -1;
    MPI_Address(&pair, &value);
    MPI_Address(&pair.index, &index);
    int lengths[] = {1, 1};
    MPI_Aint places[] = {0, index - value};
    MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT}, made, vector, indexed;
    check_equal(MPI_Type_struct(2, lengths, places, types, &made), MPI_SUCCESS);
    MPI_Type_commit(&made);
    MPI_Type_extent(made, &extent);
    MPI_Type_lb(made, &lower);
    MPI_Type_ub(made, &upper);
    check_equal(extent, MPI_Aint{sizeof pair});
    check_equal(lower, MPI_Aint{0});
    check_equal(upper, MPI_Aint{sizeof pair});
    MPI_Sendrecv(&pair, 1, made, 0, 1, &got, 1, made, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    check(got.value == 2.5 && got.index == 7);
    MPI_Type_hvector(3, 2, 16, MPI_INT, &vector);
    MPI_Type_extent(vector, &extent);
    check_equal(extent, MPI_Aint{40});
    MPI_Type_hindexed(2, lengths, places, MPI_INT, &indexed);
    MPI_Type_extent(indexed, &extent);
    check_equal(extent, places[1] + MPI_Aint{sizeof(int)});
    for (MPI_Datatype *each : {&made, &vector, &indexed}) MPI_Type_free(each);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    check_class(MPI_Type_extent(MPI_DATATYPE_NULL, &extent), MPI_ERR_TYPE);
    check_class(MPI_Type_ub(MPI_INT, nullptr), MPI_ERR_ARG);
}

// MPI_LB and MPI_UB are datatypes without data. In a struct, they set the lower and the upper bound.
void removed_markers() {
    int lengths[] = {1, 1, 1};
    MPI_Aint places[] = {-8, 0, 24}, lower = 0, extent = 0;
    MPI_Datatype types[] = {MPI_LB, MPI_INT, MPI_UB}, both, upper;
    check_equal(MPI_Type_struct(3, lengths, places, types, &both), MPI_SUCCESS);
    MPI_Type_get_extent(both, &lower, &extent);
    check_equal(lower, MPI_Aint{-8});
    check_equal(extent, MPI_Aint{32});
    check_equal(MPI_Type_create_struct(2, lengths, places + 1, types + 1, &upper), MPI_SUCCESS);
    MPI_Type_commit(&upper);
    MPI_Type_get_extent(upper, &lower, &extent);
    check(lower == 0 && extent == 24);
    int from[14] = {}, to[2] = {};
    from[0] = 5;
    from[6] = 7;
    MPI_Sendrecv(from, 2, upper, 0, 0, to, 2, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    check(to[0] == 5 && to[1] == 7);
    MPI_Type_free(&both);
    MPI_Type_free(&upper);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    lengths[1] = -1;
    check_class(MPI_Type_struct(3, lengths, places, types, &both), MPI_ERR_ARG);
    lengths[1] = 1;
    check_class(MPI_Type_struct(3, nullptr, places, types, &both), MPI_ERR_ARG);
    check_class(MPI_Type_contiguous(2, MPI_UB, &both), MPI_ERR_TYPE);
}

int handled = 0;
void handler(MPI_Comm *, int *code, ...) { handled = *code; }

void removed_error_handlers() {
    MPI_Errhandler made, got;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    check_equal(MPI_Errhandler_create(handler, &made), MPI_SUCCESS);
    check_equal(MPI_Errhandler_set(comm, made), MPI_SUCCESS);
    int data = 0, size = size_of(comm);
    MPI_Send(&data, 1, MPI_INT, size, 0, comm);
    check_class(handled, MPI_ERR_RANK);
    MPI_Errhandler_get(comm, &got);
    check_equal(got, made);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&made);
    MPI_Comm_free(&comm);
}

// In this ABI, MPI_COMM_DUP_FN is a function.
void duplicated_attributes() {
    int keyval, flag = 0, value = 5, *got = nullptr;
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keyval, nullptr);
    MPI_Comm comm, copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_attr(comm, keyval, &value);
    MPI_Comm_dup(comm, &copy);
    MPI_Comm_get_attr(copy, keyval, &got, &flag);
    check(flag && got == &value);
    MPI_Comm_free_keyval(&keyval);
    check_equal(keyval, MPI_KEYVAL_INVALID);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&copy);
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    handles_for_fortran();
    statuses_for_fortran();
    variables();
    removed_datatypes();
    removed_markers();
    removed_error_handlers();
    duplicated_attributes();
    MPI_Finalize();
}
