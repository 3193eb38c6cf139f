"""Programs of this library under mpirun, under other launchers and alone: how they start, fail, wait and end."""
import os
import re
import signal
import statistics
import subprocess
import time

import pytest

PROGRAM = r"""
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **words) {
    const char *wish = count > 1 ? words[1] : "";
    int rank, size, sum = -1;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(wish, "nothing")) return MPI_Finalize();
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("%d of %d, sum %d\n", rank, size, sum);
    fflush(stdout);
    if (!strcmp(wish, "abort") && rank == 1) MPI_Abort(MPI_COMM_WORLD, atoi(words[2]));
    if (!strcmp(wish, "die") && rank == 1) raise(atoi(words[2]));
    if (!strcmp(wish, "exit") && rank == 1) exit(atoi(words[2]));
    if (!strcmp(wish, "stuck")) {
        int number;
        if (rank == 0) MPI_Recv(&number, 1, MPI_INT, size - 1, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else MPI_Barrier(MPI_COMM_WORLD);
    }
    if (*wish) MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
"""


@pytest.fixture
def program(mpirun, built):
    return built("program", PROGRAM, mpirun.build / "bin" / "mpicc")


def lines_of(size):
    return [f"{rank} of {size}, sum {size * (size - 1) // 2}" for rank in range(size)]


@pytest.mark.parametrize("ranks", [1, 2, 4, 7, 16])
def test_ranks_find_each_other(mpirun, program, ranks):
    code, out, err = mpirun.run("-n", ranks, program)
    assert (code, sorted(out.splitlines()), err) == (0, sorted(lines_of(ranks)), "")


def test_singleton(mpirun, program):
    done = subprocess.run([program], env=mpirun.environment({}), capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0 of 1, sum 0\n", "")


def test_singleton_in_the_job_of_another_launcher_stops(mpirun, program):
    done = subprocess.run([program], env=mpirun.environment({"OMPI_COMM_WORLD_SIZE": 4, "OMPI_COMM_WORLD_RANK": 1}), capture_output=True,
                          text=True, timeout=60, check=False)
    assert done.returncode != 0 and done.stdout == ""
    assert "started by Open MPI's mpirun as one of several (OMPI_COMM_WORLD_SIZE=4)" in done.stderr
    assert "what to do: start it with this library's mpirun" in done.stderr


def test_under_hydra(mpirun, program, mpich):
    code, out, err = mpirun.run("-n", 4, program, launcher=mpich / "bin" / "mpiexec.hydra")
    assert (code, sorted(out.splitlines()), err) == (0, lines_of(4), "")


def test_program_of_mpich_for_the_standard_abi_runs_on_this_library(mpirun, mpich, built, monkeypatch):
    monkeypatch.setenv("MPICH_CC", os.environ.get("LANYARD_CC", "gcc"))  # with the sanitizer of the library, if it has one
    theirs = built("abi_program", PROGRAM, mpich / "bin" / "mpicc_abi")
    code, out, err = mpirun.run("-n", 3, theirs)
    assert (code, sorted(out.splitlines()), err) == (0, lines_of(3), "")


def test_a_rank_may_start_a_job(mpirun, program):
    code, out, err = mpirun.run("-n", 1, mpirun.path, "-n", 3, program)
    assert (code, sorted(out.splitlines()), err) == (0, lines_of(3), "")


@pytest.mark.parametrize(("code", "expected"), [(7, 7), (256, 1)])
def test_abort(mpirun, program, code, expected):
    result, _, err = mpirun.run("-n", 3, program, "abort", code)
    assert result == expected
    assert re.search(rf"mpirun: rank 1 \(.*\) ended the job with MPI_Abort, code {code}\n", err)


def test_death_within_mpi(mpirun, program):
    code, _, err = mpirun.run("-n", 3, program, "die", int(signal.SIGKILL))
    assert code == 137
    assert re.search(r"mpirun: rank 1 \(.*\) was killed by signal 9 \(SIGKILL: Killed\)", err)


def test_leaving_without_finalize(mpirun, program):
    code, _, err = mpirun.run("-n", 3, program, "exit", 0)
    assert code == 1
    assert "ended with exit code 0 but without calling MPI_Finalize, while 2 other ranks go on" in err


def expect_waits(text):
    assert re.search(r"^  rank 0: waits in MPI_Recv with rank 2, tag 77 on MPI_COMM_WORLD, for \d", text, re.MULTILINE), text
    for rank in (1, 2):
        assert re.search(rf"^  rank {rank}: waits in MPI_Barrier on MPI_COMM_WORLD, ", text, re.MULTILINE), text


def test_time_limit_says_what_ranks_wait_for(mpirun, program):
    code, _, err = mpirun.run("--timeout", 2, "-n", 3, program, "stuck")
    assert code == 124
    assert err.startswith("mpirun: the job has run for the 2 s of --timeout and is ended; what the ranks are waiting for:\n")
    expect_waits(err)


def test_quit_says_what_ranks_wait_for(mpirun, program):
    process = mpirun.start("-n", 3, program, "stuck")
    mpirun.read_until(process.stdout, lambda text: text.count(b"sum") == 3)
    time.sleep(0.5)
    process.send_signal(signal.SIGQUIT)
    expect_waits(mpirun.read_until(process.stderr, lambda text: text.count(b"\n") == 4).decode())
    assert process.poll() is None
    process.terminate()
    process.communicate(timeout=20)
    assert process.returncode == 143


def test_four_ranks_start_and_end_fast(mpirun, program):
    """MPI_Init and MPI_Finalize of four ranks, median of seven: under 60 ms in a release build. Three attempts, as other
    work on the machine only ever adds to the time."""
    limit_ms = 60 if mpirun.build.name == "release" else 3000
    medians_ms = []
    for _ in range(3):
        times_ms = []
        for _ in range(7):
            began = time.perf_counter()
            subprocess.run([mpirun.path, "-n", "4", program, "nothing"], check=True, timeout=60)
            times_ms.append((time.perf_counter() - began) * 1000)
        medians_ms.append(statistics.median(times_ms))
        if medians_ms[-1] < limit_ms:
            return
    raise AssertionError(f"medians of seven: {medians_ms} ms")
