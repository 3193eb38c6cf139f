"""Tests a user's program under the tools of docs/debugging.md, with the library as it is installed. The tools
must report nothing in a correct program, with both front ends and on every path. They must report the errors
of a wrong program."""
import os
import pathlib
import shutil
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PATHS = ("shm", "tcp", "dgram")
DOORS = ("mpi_abi", "mpich_abi")
pytestmark = pytest.mark.skipif("-fsanitize" in os.environ.get("LANYARD_CC", ""),
                                reason="the library is built with a sanitizer itself")

# One thread passes a number to another by a message, or both access the number at the same time without a
# message.
BETWEEN_THREADS = r"""
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static int shared, told;
static void *second(void *given) {
    int token;
    if (told) MPI_Recv(&token, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    else usleep(100000);
    shared += 1;
    if (told) MPI_Send(&token, 1, MPI_INT, 0, 2, MPI_COMM_SELF);
    return given;
}
int main(int argc, char **argv) {
    int provided, token = 7;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    told = argc > 1;
    pthread_create(&thread, NULL, second, NULL);
    shared += 1;
    if (told) {
        MPI_Send(&token, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
        MPI_Recv(&token, 1, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        shared += 1;
    }
    pthread_join(thread, NULL);
    printf("%d\n", shared);
    return MPI_Finalize();
}
"""

# Makes one of two errors: the library writes a message into a buffer that is too short, or memory is not
# freed.
WRONG = r"""
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    volatile int *room = malloc(4 * sizeof(int));
    int data[2048] = {0}, count = argc > 1 ? atoi(argv[1]) : 4;
    MPI_Sendrecv(data, count, MPI_INT, 0, 1, (int *)room, count, MPI_INT, 0, 1, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
    room = NULL;
    return MPI_Finalize();
}
"""


@pytest.fixture
def compiled(mpirun, built):
    """compiled(name, source, door, options...) returns the program, built for that ABI."""
    def compile_it(name, source, door, *options):
        words = ("-O1", "-g", "-pthread", "-Wno-stringop-overflow", *options)
        if door == "mpi_abi":
            return built(f"{name}-{door}", source, mpirun.build / "bin" / "mpicc", *words)
        library = mpirun.build / "lib" / "libmpi.so.12"
        # The library stands before the source on the command line, so the linker needs an option to keep it.
        return built(f"{name}-{door}", source, "gcc", "-I", ROOT / "tests" / "mpich_abi" / "include", *words,
                     "-Wl,--no-as-needed", library, f"-Wl,-rpath,{mpirun.build / 'lib'}")
    return compile_it


def sanitizer_or_skip(kind, built):
    try:
        program = built(f"plain-{kind}", "int main(void) { return 0; }", "gcc", f"-fsanitize={kind}")
    except subprocess.CalledProcessError:
        pytest.skip(f"the compiler has no sanitizer of kind {kind}")
    if subprocess.run([program], capture_output=True, check=False).returncode != 0:
        pytest.skip(f"programs with the sanitizer of kind {kind} do not run on this kernel")


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", ["address,undefined", "thread"])
def test_sanitizers_find_nothing(mpirun, compiled, built, kind, door):
    sanitizer_or_skip(kind, built)
    program = compiled(f"checked-{kind}", (HERE / "programs" / "checked.c").read_text(), door,
                       f"-fsanitize={kind}")
    for path in PATHS:
        code, out, err = mpirun.run("-n", 2, program, "threads", env={"LANYARD_PATHS": f"self,{path}"})
        assert (code, out, err) == (0, "right\n", ""), path


@pytest.mark.parametrize("door", DOORS)
def test_what_threads_hand_to_each_other_by_messages_is_no_race(mpirun, compiled, built, door):
    sanitizer_or_skip("thread", built)
    program = compiled("between-threads", BETWEEN_THREADS, door, "-fsanitize=thread")
    assert mpirun.run("-n", 1, program, "told") == (0, "3\n", "")
    code, _, err = mpirun.run("-n", 1, program)
    assert code != 0 and "WARNING: ThreadSanitizer: data race" in err, err


def test_what_is_wrong_is_found(mpirun, compiled, built):
    sanitizer_or_skip("address", built)
    program = compiled("wrong", WRONG, "mpi_abi", "-fsanitize=address")
    for count in (8, 2048):  # a long message may be copied by another function than memcpy
        code, _, err = mpirun.run("-n", 1, program, count)
        assert code != 0 and "heap-buffer-overflow" in err, err
    code, _, err = mpirun.run("-n", 1, program)
    assert code != 0 and "LeakSanitizer: detected memory leaks" in err and "16 byte(s)" in err, err


if "LANYARD_TEST_ALL" in os.environ:  # valgrind is not among the packages of 'make test'
    @pytest.mark.parametrize("door", DOORS)
    @pytest.mark.parametrize("path", PATHS)
    def test_valgrind_finds_nothing(mpirun, compiled, door, path):
        if not shutil.which("valgrind"):
            pytest.skip("valgrind is not installed")
        program = compiled("checked-valgrind", (HERE / "programs" / "checked.c").read_text(), door)
        code, out, err = mpirun.run("-n", 2, "valgrind", "--quiet", "--error-exitcode=9", "--leak-check=full",
                                    program, "threads", env={"LANYARD_PATHS": f"self,{path}"}, timeout=300)
        assert (code, out, err) == (0, "right\n", "")
