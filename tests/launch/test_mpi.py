"""Tests how programs linked with Lanyard start, fail, wait and end: under mpirun, under other launchers and
without a launcher."""
import os
import re
import signal
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
    MPI_Info early = MPI_INFO_NULL;
    if (!strcmp(wish, "maxprocs")) MPI_Info_create_env(count, words, &early);
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(wish, "nothing")) return MPI_Finalize();
    if (!strcmp(wish, "maxprocs")) {
        char value[MPI_MAX_INFO_VAL + 1] = "absent", told[MPI_MAX_INFO_VAL + 1] = "absent";
        int length = sizeof value, found;
        MPI_Info_get_string(MPI_INFO_ENV, "maxprocs", &length, value, &found);
        length = sizeof told;
        MPI_Info_get_string(early, "maxprocs", &length, told, &found);
        MPI_Info_free(&early);
        printf("%d %s%s\n", rank, value, strcmp(value, told) ? ", before MPI_Init another" : "");
        return MPI_Finalize();
    }
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("%d of %d, sum %d\n", rank, size, sum);
    fflush(stdout);
    if (!strcmp(wish, "abort") && rank == 1) MPI_Abort(MPI_COMM_WORLD, atoi(words[2]));
    if (!strcmp(wish, "die") && rank == 1) raise(atoi(words[2]));
    if (!strcmp(wish, "exit") && rank == 1) exit(atoi(words[2]));
    if (!strcmp(wish, "errors abort")) {
        MPI_Comm copy;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        MPI_Comm_set_errhandler(copy, MPI_ERRORS_ABORT);
        MPI_Barrier(copy);  // all ranks have printed their line
        if (rank == 1) {
            MPI_Send(&rank, -1, MPI_INT, 0, 0, copy);
            printf("not reached\n");
        }
    }
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
    done = subprocess.run([program], env=mpirun.environment({}), capture_output=True, text=True, timeout=60,
                          check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0 of 1, sum 0\n", "")


def test_singleton_in_the_job_of_another_launcher_stops(mpirun, program):
    done = subprocess.run([program], env=mpirun.environment({"OMPI_COMM_WORLD_SIZE": 4,
                                                             "OMPI_COMM_WORLD_RANK": 1}), capture_output=True,
                          text=True, timeout=60, check=False)
    assert done.returncode != 0 and done.stdout == ""
    assert "started by Open MPI's mpirun as one of several (OMPI_COMM_WORLD_SIZE=4)" in done.stderr
    assert "what to do: start it with this library's mpirun" in done.stderr


def test_under_hydra(mpirun, program, mpich):
    code, out, err = mpirun.run("-n", 4, program, launcher=mpich / "bin" / "mpiexec.hydra")
    assert (code, sorted(out.splitlines()), err) == (0, lines_of(4), "")


def test_program_of_mpich_for_the_standard_abi_runs_on_this_library(mpirun, mpich, built, monkeypatch):
    # The compiler has the sanitizer of the library, if the library has one.
    monkeypatch.setenv("MPICH_CC", os.environ.get("LANYARD_CC", "gcc"))
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
    assert "because of an error" not in err
    assert re.search(rf"mpirun: rank 1 \(.*\) ended the job with MPI_Abort, code {code}\n", err)


def test_error_under_errors_abort_ends_the_whole_job(mpirun, program):
    """All ranks set the handler on a copy of MPI_COMM_WORLD. One rank makes a call that fails, and the other
    ranks wait for this rank. The fixture `mpirun` checks that all of them have ended."""
    code, out, err = mpirun.run("-n", 3, program, "errors abort")
    assert (code, sorted(out.splitlines())) == (2, lines_of(3)), err  # MPI_ERR_COUNT
    assert re.search(
        r"^Lanyard: MPI_Send\(.*count=-1, .*\) on rank 1 \([^)]+\): count is -1 but must not be negative; "
        r"the job is aborted \(error handler MPI_ERRORS_ABORT\)$", err, re.MULTILINE), err
    assert re.search(r"^mpirun: rank 1 \(.*\) ended the job because of an error, code 2$", err,
                     re.MULTILINE), err


def test_death_within_mpi(mpirun, program):
    code, _, err = mpirun.run("-n", 3, program, "die", int(signal.SIGKILL))
    assert code == 137
    assert re.search(r"mpirun: rank 1 \(.*\) was killed by signal 9 \(SIGKILL: Killed\)", err)


def test_leaving_without_finalize(mpirun, program):
    code, _, err = mpirun.run("-n", 3, program, "exit", 0)
    assert code == 1
    assert "ended with exit code 0 but without calling MPI_Finalize, while 2 other ranks were running" in err


def wait_as_expected(text):
    patterns = [r"^  rank 0: waits in MPI_Recv with rank 2, tag 77 on MPI_COMM_WORLD, for \d",
                *(rf"^  rank {rank}: waits in MPI_Barrier on MPI_COMM_WORLD, " for rank in (1, 2))]
    return all(re.search(pattern, text, re.MULTILINE) for pattern in patterns)


def test_each_program_sees_its_own_number_of_ranks(mpirun, program):
    """maxprocs in MPI_INFO_ENV is the number of ranks with which the program itself was started.
    MPI_Info_create_env gives the same number before MPI_Init."""
    code, out, err = mpirun.run("-n", 1, program, "maxprocs", ":", "-n", 2, program, "maxprocs")
    assert (code, sorted(out.splitlines()), err) == (0, ["0 1", "1 2", "2 2"], "")
    done = subprocess.run([program, "maxprocs"], env=mpirun.environment({}), capture_output=True, text=True,
                          timeout=60, check=True)
    assert done.stdout == "0 1\n"


def test_a_job_within_a_job_does_not_see_the_number_of_ranks_of_the_outer(mpirun, program):
    code, out, err = mpirun.run("-n", 1, mpirun.path, "-n", 2, program, "maxprocs")
    assert (code, sorted(out.splitlines()), err) == (0, ["0 2", "1 2"], "")


def test_hydra_does_not_say_the_number_of_ranks_of_a_program(mpirun, program, mpich):
    code, out, _ = mpirun.run("-n", 1, program, "maxprocs", ":", "-n", 2, program, "maxprocs",
                              launcher=mpich / "bin" / "mpiexec.hydra")
    assert (code, sorted(out.splitlines())) == (0, ["0 absent", "1 absent", "2 absent"])


@pytest.mark.parametrize(("script", "lines"), [
    ("test $PMI_RANK = 1 && exec sleep 1000",
     ["rank 0: waits in MPI_Init for rank 1, which has not called it", "rank 1: has not called MPI_Init",
      "rank 2: waits in MPI_Init for rank 1, which has not called it"]),
    ("test $PMI_RANK = 0 && exec sleep 1000",
     ["rank 0: has not called MPI_Init", "rank 1: waits in MPI_Init for rank 0, which has not called it",
      "rank 2: waits in MPI_Init for rank 0, which has not called it"]),
    ("test $PMI_RANK = 0 || exec sleep 1000",
     ["rank 0: waits in MPI_Init for ranks 1 and 2, which have not called it",
      "rank 1: has not called MPI_Init", "rank 2: has not called MPI_Init"]),
    pytest.param("case $PMI_RANK in 1) exit 0;; 2) exec sleep 1000; esac",
                 [
                     "rank 0: waits in MPI_Init for rank 2, which has not called it, and for rank 1, which "
                     "ended without calling it",
                     "rank 1: has ended without calling MPI_Init", "rank 2: has not called MPI_Init"],
                 marks=pytest.mark.one_host("an agent whose ranks have all ended says no more of them")),
], ids=["middle", "first", "others", "ended"])
def test_ranks_that_wait_in_init(mpirun, program, script, lines):
    def told(err):
        return [line.strip() for line in err.splitlines()[1:]]
    words = "sh", "-c", f'{script}; exec "$0"', program
    code, _, err = mpirun.run_out(2, lambda err: told(err) == lines, "-n", 3, *words)
    assert (code, told(err)) == (124, lines)


def test_many_ranks_are_named_shortly(mpirun, program):
    """Of 24 ranks, the odd ones and rank 2 wait for the others. A long list of ranks is cut, and consecutive
    ranks are written as a span."""
    script = 'test $((PMI_RANK % 2)) = 1 || test $PMI_RANK = 2 || exec sleep 1000; exec "$0"'
    line = ("rank 2: waits in MPI_Init for ranks 0, 4, 6, 8, 10, 12, 14, 16, ... (11 ranks), which have not "
            "called it\n")
    code, _, err = mpirun.run_out(4, lambda err: line in err, "-n", 24, "sh", "-c", script, program)
    assert code == 124 and line in err, err
    line = "rank 0: waits in MPI_Init for ranks 1 to 8, 10 and 11, which have not called it\n"
    script = 'test $PMI_RANK = 0 || test $PMI_RANK = 9 || exec sleep 1000; exec "$0"'
    _, _, err = mpirun.run_out(4, lambda err: line in err, "-n", 12, "sh", "-c", script, program)
    assert line in err, err


@pytest.mark.one_host("where MPICH waits depends on whether its ranks share memory")
def test_waits_of_another_library(mpirun, mpich, built, mpich_files):
    """Programs that run on MPICH write no wait records, so mpirun knows only what they have reported to the
    PMI server. These programs run on MPICH because LD_LIBRARY_PATH names it."""
    own = {"LD_LIBRARY_PATH": str(mpich / "lib")}
    theirs = built("mpich_stuck", PROGRAM, mpich / "bin" / "mpicc")
    unknown = "has called MPI_Init; what it waits for is not known"
    one = "sh", "-c", 'test $PMI_RANK = 1 && exec sleep 1000; exec "$0"', theirs
    code, _, err = mpirun.run_out(2, lambda err: f"rank 0: {unknown}" in err, "-n", 2, *one, env=own)
    assert code == 124 and f"rank 0: {unknown}" in err and "rank 1: has not called MPI_Init\n" in err, err
    code, _, err = mpirun.run_out(2, lambda err: err.count(unknown) == 2, "-n", 2, theirs, "stuck", env=own)
    assert code == 124 and err.count(unknown) == 2, err


def test_time_limit_says_what_ranks_wait_for(mpirun, program):
    code, _, err = mpirun.run_out(2, wait_as_expected, "-n", 3, program, "stuck")
    assert code == 124 and wait_as_expected(err), err
    limit = (r"mpirun: the job has run for the \d+ s of --timeout and is ended; what the ranks are waiting "
             r"for:\n")
    assert re.match(limit, err), err


def test_quit_says_what_ranks_wait_for(mpirun, program):
    process = mpirun.start("-n", 3, program, "stuck")
    mpirun.read_until(process.stdout, lambda text: text.count(b"sum") == 3)
    text = mpirun.quit_until(process, 4, wait_as_expected)
    assert process.poll() is None and wait_as_expected(text), text
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == 143


def test_start_and_end_wait_for_no_timer(mpirun, program):
    """Four ranks take about 30 ms (bench/run's goals: startup, start-nothing). If even the fastest of several
    runs takes a hundred times as long, it has waited for a timer."""
    limit_s = 3 if mpirun.build.name == "release" else mpirun.soon_s
    times_s = []
    while not times_s or (len(times_s) < 20 and min(times_s) >= limit_s):
        began = time.perf_counter()
        assert mpirun.run("-n", 4, program, "nothing") == (0, "", "")
        times_s.append(time.perf_counter() - began)
    assert min(times_s) < limit_s, times_s
