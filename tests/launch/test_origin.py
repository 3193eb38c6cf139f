"""Tests how the library recognises whether a process is a rank. A rank that has lost its variables or its
connection, or has closed descriptors that it needs, must not silently become "rank 0 of 1", and must not keep
other ranks waiting. A process that a rank starts must not be taken for a rank."""
import os
import re
import sys

import pytest

PROGRAM = r"""
#define _GNU_SOURCE
#include <mpi.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void close_from(int first) {
    for (int fd = first; fd < 1024; ++fd) close(fd);
}
int main(int count, char **words) {
    const char *wish = count > 1 ? words[1] : "";
    int rank, size, sum = -1;
    if (!strcmp(wish, "clear")) clearenv();
    if (!strcmp(wish, "clear but some")) {
        clearenv();
        setenv("PATH", "/usr/bin:/bin", 1);
    }
    if (!strcmp(wish, "unset")) {
        const char *names[] = {"PMI_FD", "PMI_RANK", "PMI_SIZE", "PMI_ID"};
        for (int i = 0; i < 4; ++i) unsetenv(names[i]);
    }
    if (!strcmp(wish, "close before")) close_from(3);
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(wish, "start") && rank == size - 1 && system(words[2]) != 0) printf("the child failed\n");
    if (!strcmp(wish, "close") && (atoi(words[2]) < 0 || rank == atoi(words[2]))) close_from(atoi(words[3]));
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("%d of %d, sum %d\n", rank, size, sum);
    fflush(stdout);
    if (!strcmp(wish, "start")) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Finalize();
        return rank == size - 1 && count > 3 ? system(words[3]) : 0;
    }
    return MPI_Finalize();
}
"""


@pytest.fixture
def program(mpirun, built):
    return built("origin", PROGRAM, mpirun.build / "bin" / "mpicc")


def lines_of(size):
    return [f"{rank} of {size}, sum {size * (size - 1) // 2}" for rank in range(size)]


def expect_whole_job(done, size):
    code, out, err = done
    assert (code, sorted(out.splitlines()), err) == (0, lines_of(size), "")


# Ranks that have lost what mpirun passed to them --------------------------------------------------

@pytest.mark.parametrize("wish", ["clear", "clear but some", "unset"])
def test_program_that_clears_its_environment_is_the_rank_it_was(mpirun, program, wish):
    expect_whole_job(mpirun.run("-n", 3, program, wish), 3)


LOST_ALL = ("this process was started by {}, but without the variables and the connection by which it could "
            "join the job")
WRAPPERS = [["env", "-i"], ["sh", "-c", 'exec env -i "$0"'], ["sh", "-c", 'env -i "$0"; exit $?'],
            ["env", "-u", "PMI_FD", "-u", "PMI_RANK", "-u", "PMI_SIZE"]]


@pytest.mark.parametrize("wrapper", WRAPPERS, ids=" ".join)
def test_wrapper_that_clears_the_environment_starts_the_rank(mpirun, program, wrapper):
    """The connection to mpirun is enough to identify the rank, and to find the segment."""
    expect_whole_job(mpirun.run("-n", 3, *wrapper, program), 3)


def test_ranks_with_and_without_variables_find_each_other(mpirun, program):
    expect_whole_job(mpirun.run("-n", 1, "env", "-i", program, ":", "-n", 2, program), 3)


def test_program_that_clears_its_environment_under_hydra(mpirun, program, mpich):
    expect_whole_job(mpirun.run("-n", 3, program, "clear", launcher=mpich / "bin" / "mpiexec.hydra"), 3)


def test_empty_environment_under_hydra_is_noticed(mpirun, program, mpich):
    code, out, err = mpirun.run("-n", 2, "env", "-i", program, launcher=mpich / "bin" / "mpiexec.hydra")
    assert code != 0 and " of 1," not in out
    assert LOST_ALL.format("hydra_pmi_proxy") in err


WRAPPER = "import subprocess, sys; sys.exit(subprocess.run([{0!r}], {1}).returncode)"


@pytest.mark.parametrize(("arguments", "lost"), [
    ("", "its connection to mpirun, the descriptor PMI_FD, is not open in it"),
    ("env={}", "its variables and its connection to mpirun, a descriptor, are lost"),
])
def test_wrapper_that_closes_descriptors_is_no_silent_singleton(mpirun, program, arguments, lost):
    code, out, err = mpirun.run("-n", 3, *mpirun.python(WRAPPER.format(str(program), arguments)))
    assert code != 0 and out == ""
    said = re.search(
        rf"this process was started by mpirun's rank [012] of 3, or as it, but {lost}, and no process has "
        r"joined as that rank; running as rank 0 of 1 would be wrong\nwhat to do: (.*)\n", err)
    assert said and "close_fds=False" in said[1] and "mpirun -n 1 PROGRAM" in said[1], err


def test_wrapper_does_as_it_is_told(mpirun, program):
    expect_whole_job(mpirun.run("-n", 3, *mpirun.python(WRAPPER.format(str(program), "close_fds=False"))), 3)


def test_rank_that_has_lost_all_of_it(mpirun, program):
    """Only the ancestors of the process show that it is one of several ranks. The process must end with a
    message."""
    code, out, err = mpirun.run("-n", 2, "env", "-i", program, "close before")
    assert code != 0 and out == ""
    assert LOST_ALL.format("mpirun") in err
    code, out, err = mpirun.run("-n", 2, program, "close before")
    assert code != 0 and out == "" and "the descriptor PMI_FD, is not open in it" in err


def test_job_of_one_may_lose_its_connection(mpirun, program):
    for words in ([program, "close before"], mpirun.python(WRAPPER.format(str(program), ""))):
        assert mpirun.run("-n", 1, *words) == (0, "0 of 1, sum 0\n", "")


def test_other_socket_under_the_number_is_not_taken_for_the_connection(mpirun, program):
    """Another socket has the number of the closed connection to mpirun. This happens in workers of Python's
    forkserver, whose connection to the parent gets the lowest free number."""
    code, out, err = mpirun.run("-n", 2, *mpirun.python(f"""
import os, socket, subprocess
ours, theirs = socket.socketpair()
number = int(os.environ["PMI_FD"])
os.dup2(theirs.fileno(), number)
done = subprocess.run([{str(program)!r}], pass_fds=[number], timeout=30, stderr=subprocess.PIPE, text=True)
ours.setblocking(False)
try: print("received", ours.recv(1000))
except BlockingIOError: print(done.returncode != 0, "is not open in it" in done.stderr)"""))
    assert (code, out, err) == (0, "True True\n" * 2, "")


# What a rank starts -------------------------------------------------------------------------------

@pytest.mark.parametrize("child", ["{}", "env -i {}", "env -u PMI_FD -u PMI_RANK {}", "sh -c '{}; exit $?'"])
def test_program_that_a_rank_starts_is_alone(mpirun, program, child):
    """A rank starts a program while it uses MPI, and again after it has finalised. Each program must run
    alone."""
    child = child.format(program)
    code, out, err = mpirun.run("-n", 3, program, "start", child, child)
    assert (code, sorted(out.splitlines()), err) == (0, sorted(lines_of(3) + lines_of(1) * 2), "")


def test_program_that_a_rank_of_hydra_starts_is_alone(mpirun, program, mpich):
    code, out, err = mpirun.run("-n", 3, program, "start", program, program,
                                launcher=mpich / "bin" / "mpiexec.hydra")
    assert (code, sorted(out.splitlines()), err) == (0, sorted(lines_of(3) + lines_of(1) * 2), "")
    job = f"{mpich / 'bin' / 'mpiexec.hydra'} -n 3 {program}"
    code, out, err = mpirun.run("-n", 3, program, "start", job, launcher=mpich / "bin" / "mpiexec.hydra")
    assert (code, sorted(out.splitlines()), err) == (0, sorted(lines_of(3) * 2), "")


def test_job_that_a_rank_starts(mpirun, program):
    jobs = [f"{mpirun.path} -n {ranks} {program}" for ranks in (3, 2)]
    code, out, err = mpirun.run("-n", 2, program, "start", *jobs)
    assert (code, sorted(out.splitlines()), err) == (0, sorted(lines_of(2) + lines_of(3) + lines_of(2)), "")


def test_job_within_a_rank_does_not_lead_to_the_rank_around_it(mpirun, program):
    """A rank of an outer job starts mpirun, and its connection stays open in the inner job. A program that a
    rank of the inner job starts must not join the outer job through this connection."""
    for child in (program, f"env -i {program}"):
        code, out, err = mpirun.run("-n", 2, "sh", "-c", f'{mpirun.path} -n 2 {program} start "{child}"')
        assert (code, sorted(out.splitlines()), err) == (0, sorted(lines_of(2) * 2 + lines_of(1) * 2), "")


def test_job_of_hydra_that_a_rank_starts(mpirun, program, mpich):
    job = f"{mpich / 'bin' / 'mpiexec.hydra'} -n 3 {program}"
    code, out, err = mpirun.run("-n", 2, program, "start", job)
    assert (code, sorted(out.splitlines()), err) == (0, sorted(lines_of(2) + lines_of(3)), "")


def test_process_of_another_launcher_within_a_rank_is_not_alone(mpirun, program):
    told = ("PMIX_RANK=1 PMIX_NAMESPACE=inner", "OMPI_COMM_WORLD_SIZE=7 OMPI_COMM_WORLD_RANK=1",
            "PMI_PORT=host:1 PMI_ID=1")
    for variables in told:
        code, out, err = mpirun.run("-n", 2, program, "start", f"env {variables} {program}")
        assert (code, sorted(out.splitlines())) == (0, sorted(lines_of(2) + ["the child failed"])), err
        assert "running as rank 0 of 1 would be wrong" in err and variables.split(" ", maxsplit=1)[0] in err


def test_allocation_around_the_job_does_not_concern_what_a_rank_starts(mpirun, program):
    code, out, err = mpirun.run("-n", 2, program, "start", program,
                                env={"SLURM_NTASKS": 2, "SLURM_JOB_ID": 7})
    assert (code, sorted(out.splitlines()), err) == (0, sorted(lines_of(2) + lines_of(1)), "")


def test_programs_of_one_rank_one_after_the_other_and_at_once(mpirun, program):
    code, out, err = mpirun.run("-n", 2, "sh", "-c", '"$0" && "$0"', program)
    assert (code, sorted(out.splitlines()), err) == (0, sorted(lines_of(2) * 2), "")
    first = "touch joined; while ! test -e refused; do sleep 0.01; done"
    at_once = (f'"$0" start "{first}" & while ! test -e joined; do sleep 0.01; done; "$0" 2>said; touch '
               'refused; wait $!')
    assert mpirun.run("-n", 1, "sh", "-c", at_once, program) == (0, "0 of 1, sum 0\n", "")
    assert re.search(
        r"was started as rank 0 of 1, but process \d+ has joined as that rank and is still running",
        (mpirun.folder / "said").read_text())


# Descriptors closed under MPI ---------------------------------------------------------------------

CLOSED = (
    r"^mpirun: rank [012] \(.*\) (ended with exit code \d+: it )?closed its connection to mpirun while it "
    r"was using "
    r"MPI, as programs do that close all descriptors \(daemon, closefrom\); let it close only those that it "
    r"has opened$")


def test_programs_that_close_all_descriptors_end_with_a_sentence(mpirun, program):
    """Over each path, one job has a rank that closes its descriptors above 2, and in another job all ranks
    close all descriptors. The jobs run at the same time, because each takes a second."""
    jobs = [(paths, who, first) for paths in ("self,shm", "self,tcp", "self,dgram")
            for who, first in ((1, 3), (-1, 0))]
    running = [mpirun.start("-n", 3, program, "close", who, first, env={"LANYARD_PATHS": paths}, text=True)
               for paths, who, first in jobs]
    for job, process in zip(jobs, running):
        _, err = process.communicate(timeout=60)
        assert process.returncode != 0 and re.search(CLOSED, err, re.MULTILINE), (job, err)


def test_rank_on_another_host_that_closes_all_descriptors(hosts, program):
    code, _, err = hosts("a,b", "-n", 2, program, "close", 1, 0)
    assert code != 0 and re.search(CLOSED, err, re.MULTILINE) and "rank 1 (" in err and " on b) " in err, err


def test_ranks_without_variables_on_several_hosts(hosts, program):
    expect_whole_job(hosts("a:2,b", "-n", 3, "env", "-i", program), 3)


def test_single_rank_that_closes_all_descriptors(mpirun, program):
    code, _, err = mpirun.run("-n", 1, program, "close", 0, 0)
    assert code != 0 and "closed its connection to mpirun while it was using MPI" in err
    # A process without a launcher has no connection.
    assert mpirun.run("close", 0, 3, launcher=program) == (0, "0 of 1, sum 0\n", "")


# Python's pools -----------------------------------------------------------------------------------

# A script that initialises MPI at its top, as mpi4py's users write it. Every worker of a pool imports the
# script again. The script uses ctypes, so that nothing needs to be installed. tests/mpich_abi has the same
# test with mpi4py's wheel.
POOL = """
import ctypes, multiprocessing, os, sys
mpi = ctypes.CDLL(os.environ["LIBRARY"])
mpi.MPI_Init(None, None)

def told_by(function):
    number = ctypes.c_int()
    function(ctypes.c_void_p(0x101), ctypes.byref(number))  # MPI_COMM_WORLD
    return number.value

def worker(number):
    return number * number, told_by(mpi.MPI_Comm_size)

if __name__ == "__main__":
    for method in ("spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(worker, range(3)) == [(0, 1), (1, 1), (4, 1)], method
    print(told_by(mpi.MPI_Comm_rank), told_by(mpi.MPI_Comm_size), flush=True)
    mpi.MPI_Finalize()
"""


@pytest.mark.skipif("-fsanitize" in os.environ.get("LANYARD_CC", ""),
                    reason="Python cannot load a library that needs a sanitizer's runtime")
def test_pools_of_python(mpirun):
    (mpirun.folder / "pool.py").write_text(POOL)
    env = {"LIBRARY": mpirun.build / "lib" / "libmpi_abi.so.1", "PYTHONDONTWRITEBYTECODE": 1}
    code, out, err = mpirun.run("-n", 2, sys.executable, "pool.py", env=env)
    assert (code, sorted(out.splitlines()), err) == (0, ["0 2", "1 2"], "")


# Names of other launchers -------------------------------------------------------------------------

def test_variables_of_open_mpi(mpirun):
    """Wrapper scripts read these variables."""
    names = "RANK", "SIZE", "LOCAL_RANK", "LOCAL_SIZE", "NODE_RANK"
    show = "sh", "-c", "echo " + " ".join(f"$OMPI_COMM_WORLD_{name}" for name in names)
    outer = {"OMPI_COMM_WORLD_RANK": 77, "OMPI_COMM_WORLD_SIZE": 99}
    code, out, err = mpirun.run("-n", 1, *show, ":", "-n", 2, *show, env=outer)
    assert (code, sorted(out.splitlines()), err) == (0,
                                                     [f"{rank} 3 {rank} 3 {rank}" for rank in range(3)], "")


def test_doctor_does_not_take_them_for_open_mpi(mpirun):
    doctor = mpirun.build / "bin" / "lanyard", "doctor"
    _, out, _ = mpirun.run("-n", 1, *doctor, timeout=180)
    assert "library" in out and "another job" not in out and "Open MPI" not in out
    outer = {"OMPI_COMM_WORLD_SIZE": 2, "OMPI_COMM_WORLD_RANK": 0}
    _, out, _ = mpirun.run(*doctor[1:], launcher=doctor[0], env=outer, timeout=180)
    assert "OMPI_COMM_WORLD_SIZE is set: this shell runs inside a job of Open MPI's mpirun" in out
    _, out, _ = mpirun.run("env", "OMPI_COMM_WORLD_SIZE=7", *doctor, timeout=180)
    assert "this shell runs inside a job of Open MPI's mpirun" in out
