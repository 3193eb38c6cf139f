"""Tests MPI calls before MPI_Init or after MPI_Finalize, and unusual ways to start and end a process.

Also tested: calls in a forked child, a second MPI_Init, MPI_Abort, and a process that another launcher
started.
"""
import os
import re

import pytest


@pytest.mark.parametrize(("when", "reason"), [
    ("before", "MPI is not initialised; call MPI_Init, MPI_Init_thread or MPI_Session_init first"),
    ("after", "MPI is finalised; nothing but queries of its state may be called now"),
])
@pytest.mark.parametrize("call", ["rank", "send", "barrier", "type", "finalize"])
def test_call_outside_of_mpi(mpirun, program, when, reason, call):
    for launcher in (None, program("life")):  # None: under mpirun; otherwise without a launcher
        words = [when, call] if launcher else ["-n", 2, program("life"), when, call]
        code, out, err = mpirun.run(*words, launcher=launcher)
        assert code not in (0, 97, 134, 139) and code < 128, err
        assert out == ""
        assert re.search(rf"MPI_\w+\(.*\).*: {reason}", err), err


def test_initialisation_after_the_end(mpirun, program):
    code, out, err = mpirun.run("-n", 2, program("life"), "after", "init")
    assert code not in (0, 97) and out == ""
    assert "MPI was finalised; it cannot be initialised a second time" in err


def test_second_initialisation(mpirun, program):
    code, out, err = mpirun.run("-n", 2, program("life"), "twice")
    assert code not in (0, 97) and out == ""
    assert re.search(r"MPI_Init\(.*\) on rank [01] \(.*\): MPI is initialised already; call MPI_Init or "
                     "MPI_Init_thread once", err), err


@pytest.mark.parametrize("ranks", [1, 3])
def test_child_is_not_part_of_the_job(mpirun, program, ranks):
    code, out, err = mpirun.run("-n", ranks, program("life"), "fork", "mpi")
    assert code == 0, err
    child, sum_line = out.splitlines()
    assert child.startswith("child ") and child not in ("child 0", "child 97") and int(child[6:]) < 128
    assert sum_line == f"sum {ranks * (ranks - 1) // 2}"
    assert ("this process was made by fork() and is not part of the MPI job; only its parent may call "
            "MPI") in err


def test_copy_of_a_process_alone_is_alone(mpirun, program):
    """A forked child may call MPI if its parent runs without mpirun. The child of a rank may not.

    The fork server of Python's multiprocessing creates its workers in this way.
    """
    code, out, err = mpirun.run("fork", "mpi", launcher=program("life"))
    # 97: MPI_Barrier has returned in the child
    assert (code, out, err) == (0, "not reached\nchild 97\nsum 0\n", "")


@pytest.mark.parametrize("paths", [
    pytest.param("self,shm", marks=pytest.mark.one_host("shared memory")), "self,tcp",
])
def test_child_may_end_as_it_likes(mpirun, program, paths):
    """A forked child may call exit(), even if its parent has a helper thread. (The child has no copy of this
    thread.)

    Leak detection is switched off here. At the exit of a forked child, the leak sanitizer of gcc 12 can wait
    for ever for a lock of its allocator, if another thread of the parent held this lock at the fork. This
    happens without MPI too.
    """
    env = {"LANYARD_PATHS": paths, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
    assert mpirun.run("-n", 3, program("life"), "fork", "exit", env=env) == (0, "child 0\nsum 3\n", "")


@pytest.mark.parametrize(("errorcode", "expected"), [(3, 3), (200, 200), (-1, 255)])
def test_abort_of_a_process_alone(mpirun, program, errorcode, expected):
    code, _, err = mpirun.run("abort", errorcode, launcher=program("life"))
    assert code == expected
    assert (f"Lanyard: MPI_Abort(comm=MPI_COMM_WORLD, errorcode={errorcode}) was called by rank 0; the job "
            "ends") in err


@pytest.mark.parametrize(("variables", "words"), [
    ({"SLURM_NTASKS": 4, "SLURM_PROCID": 0, "SLURM_JOB_ID": 7, "SLURM_STEP_ID": 0},
     "as one of several (SLURM_NTASKS=4), but it cannot join them"),
    ({"OMPI_COMM_WORLD_SIZE": 3, "OMPI_COMM_WORLD_RANK": 0},
     "as one of several (OMPI_COMM_WORLD_SIZE=3), but it cannot join them"),
    ({"PMIX_RANK": 1, "PMIX_NAMESPACE": "prterun-host-1@1", "PMIX_SERVER_URI2": "x"},
     "as part of a job (PMIX_RANK=1), but it cannot join it"),
])
def test_process_of_another_launcher_stops(mpirun, program, variables, words):
    code, out, err = mpirun.run("end", launcher=program("life"), env=variables)
    assert code not in (0, 134, 139) and out == ""
    said, remedy = err.splitlines()
    assert words in said
    assert remedy.startswith("what to do: start it with ") and "this library's mpirun" in remedy


def test_slurm_job_of_one_task_is_a_process_alone(mpirun, program):
    assert mpirun.run("end", launcher=program("life"),
                      env={"SLURM_NTASKS": 1, "SLURM_PROCID": 0, "SLURM_JOB_ID": 7}) == (0, "", "")
