/* Tests the attribute functions of MPI-1, which are deprecated but still in use. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int deleted = 0;

static int copy_int(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag) {
    (void)comm, (void)keyval, (void)extra;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int count_deletes(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)comm, (void)keyval, (void)value, (void)extra;
    ++deleted;
    return MPI_SUCCESS;
}

static void check(int holds, int line) {
    if (holds) return;
    fprintf(stderr, "old_attributes.c:%d: the condition does not hold\n", line);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv) {
    int keyval, flag, five = 5, *found = NULL;
    MPI_Comm copy;
    MPI_Init(&argc, &argv);
    MPI_Keyval_create(copy_int, count_deletes, &keyval, NULL);
    MPI_Attr_get(MPI_COMM_WORLD, keyval, &found, &flag);
    check(!flag, __LINE__);
    MPI_Attr_put(MPI_COMM_WORLD, keyval, &five);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Attr_get(copy, keyval, &found, &flag);
    check(flag && *found == 5, __LINE__);
    MPI_Comm_free(&copy);
    check(deleted == 1, __LINE__);
    MPI_Attr_delete(MPI_COMM_WORLD, keyval);
    check(deleted == 2, __LINE__);
    MPI_Keyval_free(&keyval);
    check(keyval == MPI_KEYVAL_INVALID, __LINE__);
    MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, &found, &flag);
    check(flag && *found >= 32767, __LINE__);
    MPI_Finalize();
    return 0;
}
