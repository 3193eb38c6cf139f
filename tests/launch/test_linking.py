"""Tests that linking with -lmpi yields the library with the ABI of the installed mpi.h, whatever the form of
the option and whichever tool passes it. A program that is compiled for one ABI and calls the library of the
other must end with a message that says so."""
import ctypes
import os
import pathlib
import re
import shutil
import subprocess

import pytest

BUILD = pathlib.Path(os.environ.get(
    "LANYARD_BUILD", pathlib.Path(__file__).resolve().parents[2] / "build" / "release")).absolute()
LIB = BUILD / "lib"
ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = """
#include <mpi.h>
#include <stdio.h>
int main(int count, char **words) {
    int sum = 0, rank;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    ++rank;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("%d\\n", sum);
    return MPI_Finalize();
}
"""
CC = os.environ.get("LANYARD_CC", "gcc").split()


def sanitized():
    return "__asan_init" in subprocess.run(["nm", "-D", LIB / "liblanyard.so.0"], capture_output=True,
                                           text=True, check=True).stdout


def needed(program):
    dynamic = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
    return {name for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic) if "mpi" in name}


def build(folder, *words, source=PROGRAM, include=BUILD / "include"):
    (folder / "program.c").write_text(source)
    subprocess.run([*CC, f"-I{include}", "program.c", "-o", "program", *map(str, words)], cwd=folder,
                   check=True, timeout=300)
    return folder / "program"


def check_sums(program, mpirun):
    assert mpirun.run("-n", 2, program) == (0, "3\n3\n", "")


LINKERS = [name for name in ("bfd", "gold", "lld", "mold") if shutil.which(f"ld.{name}")]


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("words", [[f"-L{LIB}", "-lmpi"], [f"-Wl,-rpath-link,{LIB}", LIB / "libmpi.so"]],
                         ids=["-lmpi", "by its path"])
def test_lmpi_is_the_library_of_the_header(tmp_path, mpirun, words, linker):
    program = build(tmp_path, *words, f"-fuse-ld={linker}")
    assert needed(program) == {"libmpi_abi.so.1"}
    check_sums(program, mpirun)


def test_lmpi_after_the_library_itself(tmp_path, mpirun):
    """The program is linked by mpicc, and -lmpi is named as well."""
    (tmp_path / "program.c").write_text(PROGRAM)
    subprocess.run([BUILD / "bin" / "mpicc", "program.c", "-o", "program", "-lmpi", f"-L{LIB}"], cwd=tmp_path,
                   check=True, timeout=300)
    assert needed(tmp_path / "program") == {"libmpi_abi.so.1"}
    check_sums(tmp_path / "program", mpirun)


def test_configure_script(tmp_path, mpirun):
    """Links as a script of autoconf does: if -lmpi has the function, -lmpi is added to LIBS."""
    (tmp_path / "conftest.c").write_text("char MPI_Init();\nint main(void) { return MPI_Init(); }\n")
    found = [name for name in ("mpi", "mpich") if subprocess.run(
        [*CC, "-w", "conftest.c", f"-L{LIB}", f"-l{name}", "-o", "conftest"], cwd=tmp_path,
        capture_output=True, check=False).returncode == 0]
    assert found == ["mpi"]
    program = build(tmp_path, f"-L{LIB}", "-lmpi")
    assert needed(program) == {"libmpi_abi.so.1"}
    check_sums(program, mpirun)


def test_cmake_that_looks_for_the_library_itself(tmp_path, mpirun):
    """Links as CMake's FindMPI does if there is no wrapper: finds the header and a library mpi or mpich by
    their paths."""
    (tmp_path / "program.c").write_text(PROGRAM)
    (tmp_path / "CMakeLists.txt").write_text(f"""
cmake_minimum_required(VERSION 3.16)
project(consumer C)
find_path(HEADERS mpi.h PATHS {BUILD}/include NO_DEFAULT_PATH)
find_library(LIBRARY NAMES mpi mpich PATHS {LIB} NO_DEFAULT_PATH)
add_executable(program program.c)
target_include_directories(program PRIVATE ${{HEADERS}})
target_link_libraries(program ${{LIBRARY}})
""")
    flags = " ".join(CC[1:])
    for words in (["-S", tmp_path, "-B", tmp_path / "out", f"-DCMAKE_C_COMPILER={CC[0]}",
                   f"-DCMAKE_C_FLAGS={flags}"], ["--build", tmp_path / "out"]):
        subprocess.run(["cmake", *words], check=True, capture_output=True, timeout=300)
    assert needed(tmp_path / "out" / "program") == {"libmpi_abi.so.1"}
    check_sums(tmp_path / "out" / "program", mpirun)


def test_nothing_is_loaded_under_a_name_without_an_abi():
    """mpi4py's wheel and other programs try to load libmpi.so, then libmpi.so.12. They assume that the
    library that they have loaded has MPICH's ABI. Therefore no library with another ABI may be loadable under
    these names."""
    if sanitized():
        pytest.skip("a library built with sanitizers needs their runtime")
    with pytest.raises(OSError, match="invalid ELF header"):
        ctypes.CDLL(str(LIB / "libmpi.so"))
    ask = "import ctypes, sys; a, b = ctypes.c_int(7), ctypes.c_int(7); " \
          "print(ctypes.CDLL(sys.argv[1]).MPI_Abi_get_version(ctypes.byref(a), ctypes.byref(b)), a.value, " \
          "b.value)"
    for name, answer in (("libmpi.so.12", "0 -1 -1\n"), ("libmpich.so.12", "0 -1 -1\n"),
                         ("libmpi_abi.so.1", "0 1 0\n")):
        done = subprocess.run(["python3", "-c", ask, LIB / name], capture_output=True, text=True, check=True)
        assert done.stdout == answer, name


def test_program_of_the_standards_header_on_the_other_library(tmp_path, mpirun):
    program = build(tmp_path, f"-L{LIB}", LIB / "libmpi.so.12")
    assert needed(program) == {"libmpi.so.12"}
    code, out, err = mpirun.run("-n", 2, program)
    assert (code != 0, out) == (True, "")
    assert "comm is no handle of the ABI of MPICH and Intel MPI, to which this function belongs " \
           "(libmpi.so.12): this program, or a part of it, was " \
           "compiled with the mpi.h of the MPI-5.0 standard's ABI, such as Lanyard's; link it with " \
           "-lmpi_abi, as Lanyard's mpicc does" in err


def test_program_before_which_the_other_library_is_loaded(tmp_path, mpirun):
    if sanitized():
        pytest.skip("the sanitizer's runtime must come first")
    program = build(tmp_path, f"-L{LIB}", "-lmpi")
    code, out, err = mpirun.run("-n", 2, program, env={"LD_PRELOAD": LIB / "libmpi.so.12"})
    assert (code != 0, out) == (True, "")
    assert "let nothing (LD_PRELOAD) load libmpi.so.12 before" in err


def test_program_of_mpichs_header_on_the_standards_library(tmp_path, mpirun):
    program = build(tmp_path, f"-L{LIB}", "-lmpi_abi", include=ROOT / "tests" / "mpich_abi" / "include")
    code, out, err = mpirun.run("-n", 2, program)
    assert (code != 0, out) == (True, "")
    assert "comm is no handle of the MPI-5.0 standard's ABI, to which this function belongs " \
           "(libmpi_abi.so.1): this program, or a part of it, " \
           "was compiled with the mpi.h of MPICH, Intel MPI or another library with MPICH's ABI; compile " \
           "all of it with the mpi.h of the " \
           "standard's ABI (Lanyard's mpicc does), or link it with its own MPI library" in err
