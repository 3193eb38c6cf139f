"""Tests that 'make install' creates bin, lib, include and share, and that they work in place and after the
folder is moved."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest

BUILD = pathlib.Path(os.environ.get("LANYARD_BUILD", "build/release")).absolute()
PROGRAM = """
#include <mpi.h>
#include <stdio.h>
int main(void) {
    int rank, sum;
    MPI_Init(0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%d\\n", sum);
    MPI_Finalize();
    return 0;
}
"""


def run(*command, **environment):
    values = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    done = subprocess.run(command, env={**values, **environment}, capture_output=True, text=True, timeout=120,
                          check=False)
    assert (done.returncode, done.stderr) == (0, ""), command
    return done.stdout


@pytest.fixture(scope="module")
def moved(tmp_path_factory):
    """An install that was moved after it was made."""
    if not (BUILD / "CMakeCache.txt").exists():
        pytest.skip(f"{BUILD} is not a build folder, so nothing can be installed from it")
    first, then = tmp_path_factory.mktemp("install") / "first", tmp_path_factory.mktemp("install") / "then"
    run("cmake", "--install", BUILD, "--prefix", first)
    first.rename(then)
    return then


def test_the_folders_are_there(moved):
    assert {"bin", "lib", "include", "share"} <= {path.name for path in moved.iterdir()}
    assert {"mpirun", "mpiexec", "mpicc", "mpicxx",
            "lanyard"} <= {path.name for path in (moved / "bin").iterdir()}
    assert {"lanyard.1", "mpirun.1"} <= {path.name for path in (moved / "share" / "man" / "man1").iterdir()}


def test_man_finds_the_pages_of_functions(moved):
    if not shutil.which("man"):
        pytest.skip("there is no man (Debian: man-db)")
    if not (BUILD / "share" / "man" / "man3").exists():
        pytest.skip("built without Python 3.11, which makes the pages")
    where = {"PATH": f"{moved / 'bin'}:{os.environ['PATH']}", "MANPATH": ""}
    assert run("man", "-w", "MPI_Send", "mpirun", "MPI_Send_c", **where).split() == [
        str(moved / "share" / "man" / page)
        for page in ("man3/MPI_Send.3", "man1/mpirun.1", "man3/MPI_Send.3")]
    assert "MPI_Send, MPI_Send_c - sends a message" in run("man", "MPI_Send_c", PAGER="cat", MANPAGER="cat",
                                                           LC_ALL="C", MANWIDTH="100", **where)


def test_doctor_finds_the_moved_install_in_order(moved):
    report = json.loads(run(moved / "bin" / "lanyard", "doctor", "--json",
                            PATH=f"{moved / 'bin'}:{os.environ['PATH']}"))
    found = {finding["subject"]: finding for finding in report}
    assert found["library"]["verdict"] == found["PATH"]["verdict"] == "good"
    assert str(moved) in found["library"]["sentence"]


def test_programs_compile_and_run_with_the_moved_install(moved, tmp_path):
    source, program = tmp_path / "sum.c", tmp_path / "sum"
    source.write_text(PROGRAM)
    run(moved / "bin" / "mpicc", "-o", program, source)
    assert run(moved / "bin" / "mpirun", "-n", "3", program) == "3\n"
    assert run(program) == "0\n"


def test_install_over_an_earlier_version(moved, tmp_path):
    """The earlier version had a link libmpi.so to libmpi.so.12. The install must replace the link, and must
    not write through it into libmpi.so.12."""
    shutil.copytree(moved / "lib", tmp_path / "lib", symlinks=True)
    (tmp_path / "lib" / "libmpi.so").unlink()
    (tmp_path / "lib" / "libmpi.so").symlink_to("libmpi.so.12")
    run("cmake", "--install", BUILD, "--prefix", tmp_path)
    names = {path.name for path in (tmp_path / "lib").glob("lib*")}
    assert names == {"liblanyard.so", "liblanyard.so.0", "libmpi.so", "libmpi.so.12", "libmpi_abi.so",
                     "libmpi_abi.so.1", "libmpich.so.12"}
    assert "INPUT ( libmpi_abi.so )" in (tmp_path / "lib" / "libmpi.so").read_text()
    for name in ("libmpi.so.12", "libmpi_abi.so.1"):
        assert (tmp_path / "lib" / name).read_bytes()[:4] == b"\x7fELF"


def test_benchmarks_are_found_in_the_moved_install(moved):
    assert "latency" in run(moved / "bin" / "lanyard", "bench").split()
