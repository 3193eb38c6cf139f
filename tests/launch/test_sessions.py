"""Tests programs that use MPI through sessions, under mpirun. Such a program may end without MPI_Finalize, or
continue to use sessions after MPI_Finalize. Reports of waits must name the functions of sessions."""
import re

import pytest

PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static MPI_Session session;

static MPI_Comm begin(void) {
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    return comm;
}

static void end(MPI_Comm comm) {
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
}

int main(int count, char **words) {
    const char *wish = count > 1 ? words[1] : "";
    int rank = atoi(getenv("LANYARD_RANK") ? getenv("LANYARD_RANK") : getenv("PMI_RANK")), number = 0;
    if (!strcmp(wish, "late") && rank == 1) sleep(1000);
    if (strstr(wish, "world")) {
        MPI_Init(NULL, NULL);
        MPI_Finalize();
        if (rank == 1) return 0; /* the others go on in sessions of their own */
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
        sleep(1);
        return MPI_Session_finalize(&session);
    }
    MPI_Comm comm = begin();
    if (!strcmp(wish, "left") && rank == 0) MPI_Send(&number, 1, MPI_INT, 1, 9, comm);
    MPI_Barrier(comm);
    if (!strcmp(wish, "inside") && rank == 1) return 0;
    if (!strcmp(wish, "inside")) MPI_Recv(&number, 1, MPI_INT, 1, 0, comm, MPI_STATUS_IGNORE);
    if (!strcmp(wish, "stuck") && rank == 0) {
        MPI_Request request;
        MPI_Issend(&number, 1, MPI_INT, 1, 33, comm, &request);
        MPI_Request_free(&request);
    }
    if (!strcmp(wish, "stuck") && rank == 1) sleep(1000);
    if (!strcmp(wish, "abort") && rank == 0) {
        MPI_Info info;
        MPI_Session_set_errhandler(session, MPI_ERRORS_ABORT);
        MPI_Session_get_pset_info(session, "x://none", &info);
    }
    end(comm);
    if (!strcmp(wish, "gone") && rank == 1) _exit(0);
    if (!strcmp(wish, "failed") && rank == 1) _exit(3);
    if (!strcmp(wish, "again") && rank == 1) {
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
        return 0;
    }
    if (*wish) sleep(1);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_finalize(&session);
    if (!strcmp(wish, "again")) sleep(1000);
    return 0;
}
"""

# Over shared memory, and over sockets only.
PATHS = ["self,shm,tcp", "self,tcp"]


@pytest.fixture
def program(mpirun, built):
    return built("sessions", PROGRAM, mpirun.build / "bin" / "mpicc")


@pytest.mark.parametrize("paths", PATHS)
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_sessions_alone_end_silently(mpirun, program, ranks, paths):
    assert mpirun.run("-n", ranks, program, env={"LANYARD_PATHS": paths}) == (0, "", "")


@pytest.mark.parametrize("paths", PATHS)
@pytest.mark.parametrize("wish", ["gone", "world"])
def test_a_rank_may_end_before_the_sessions_of_others(mpirun, program, wish, paths):
    assert mpirun.run("-n", 3, program, wish, env={"LANYARD_PATHS": paths}) == (0, "", "")


def test_what_a_session_leaves_behind_is_told_in_debug_mode(mpirun, program):
    code, _, err = mpirun.run("-n", 2, program, "left", env={"LANYARD_CHECK": "on"})
    assert code == 0
    told = ("rank 1 [check] MPI_Session_finalize: 1 message was sent to this rank, but never received; the "
            "first is from rank 0 with tag 9")
    assert told in err, err
    assert mpirun.run("-n", 2, program, "again again", env={"LANYARD_CHECK": "on"}) == (0, "", "")


def test_sessions_without_a_launcher(mpirun, program):
    assert mpirun.run(launcher=program, env={"LANYARD_RANK": "0"}) == (0, "", "")


def test_under_hydra(mpirun, program, mpich):
    assert mpirun.run("-n", 3, program, launcher=mpich / "bin" / "mpiexec.hydra") == (0, "", "")


def test_an_exit_code_after_the_session_counts(mpirun, program):
    code, _, err = mpirun.run("-n", 2, program, "failed")
    assert code == 3 and "rank 1" in err


@pytest.mark.parametrize("wish", ["inside", "again"])
def test_leaving_within_a_session_is_told(mpirun, program, wish):
    code, _, err = mpirun.run("-n", 2, program, wish)
    assert (code != 0 and
            re.search(r"rank 1 .* ended with exit code 0 but without calling MPI_Finalize", err)), err


def test_abort_of_a_session(mpirun, program):
    code, _, err = mpirun.run("-n", 2, program, "abort")
    assert (code == 13 and "x://none" in err and
            "; the process is aborted (error handler MPI_ERRORS_ABORT)" in err), err


def test_waiting_for_who_has_not_begun(mpirun, program):
    lines = ["  rank 0: waits in MPI_Session_init for rank 1, which has not called it",
             "  rank 1: has not called MPI_Init",
             "  rank 2: waits in MPI_Session_init for rank 1, which has not called it"]
    code, _, err = mpirun.run_out(1, lambda err: err.splitlines()[1:] == lines, "-n", 3, program, "late")
    assert (code, err.splitlines()[1:]) == (124, lines)


def test_waiting_at_the_end_of_the_last_session(mpirun, program):
    def told(err):
        return re.search(r"^  rank 0: waits in MPI_Session_finalize .*rank 1.*tag 33", err, re.MULTILINE)
    code, _, err = mpirun.run_out(1, told, "-n", 2, program, "stuck")
    assert code == 124 and told(err), err


@pytest.mark.parametrize(("option", "code"), [([], 5), (["--initial-errhandler", "mpi_errors_return"], 0)])
def test_initial_error_handler(mpirun, built, option, code):
    source = """
    #include <mpi.h>
    int main(void) {
        int size;
        MPI_Errhandler handler;
        if (MPI_Comm_size(MPI_COMM_NULL, &size) == MPI_SUCCESS) return 1;
        MPI_Init(0, 0);
        MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
        if (handler != MPI_ERRORS_RETURN || MPI_Comm_size(MPI_COMM_NULL, &size) == MPI_SUCCESS) return 2;
        MPI_Finalize();
        return MPI_Comm_size(MPI_COMM_WORLD, &size) == MPI_SUCCESS;
    }
    """
    program = built("initial", source, mpirun.build / "bin" / "mpicc")
    ended, _, err = mpirun.run("-n", 1, *option, program)
    assert (ended == 0) == (code == 0)
    assert ("not initialised" in err) == (code != 0)


def test_a_wrong_initial_error_handler_is_refused(mpirun):
    code, _, err = mpirun.run("-n", 1, "--initial-errhandler", "mpi_errors_retrun", "true")
    assert code == 2
    assert err.startswith('mpirun: --initial-errhandler mpi_errors_retrun cannot be used: there is no '
                          'initial error handler "mpi_errors_retrun", '
                          "did you mean mpi_errors_return?"), err


def test_kinds_of_memory(mpirun, built):
    source = """
    #include <mpi.h>
    #include <stdio.h>
    static void tell(MPI_Info info) {
        char value[MPI_MAX_INFO_VAL];
        int length = sizeof value, flag;
        MPI_Info_get_string(info, "mpi_memory_alloc_kinds", &length, value, &flag);
        puts(flag ? value : "none");
    }
    int main(void) {
        MPI_Info info;
        MPI_Init(0, 0);
        tell(MPI_INFO_ENV);
        MPI_Comm_get_info(MPI_COMM_WORLD, &info);
        tell(info);
        MPI_Info_free(&info);
        return MPI_Finalize();
    }
    """
    program = built("kinds", source, mpirun.build / "bin" / "mpicc")
    assert mpirun.run("-n", 1, program)[1] == "system,mpi\n" * 2
    assert mpirun.run("-n", 1, "--memory-alloc-kinds", "mpi:alloc_mem,cuda",
                      program)[1] == "system,mpi,mpi:alloc_mem\n" * 2
