"""Tests libmpi.so.12 itself: its symbols, the cost of a call, and that a process can use only one ABI."""
import json
import re
import subprocess
import sys

import pytest

from .conftest import BUILD, MPICH, ROOT, clean_environment

# The library defines these symbols in addition to the functions: variables that the ABI's header names, and
# MPI_COMM_DUP_FN.
MORE = {"MPI_UNWEIGHTED", "MPI_WEIGHTS_EMPTY", "MPI_T_PVAR_ALL_HANDLES", "MPI_F_STATUS_IGNORE",
        "MPI_F_STATUSES_IGNORE", "MPI_F08_STATUS_IGNORE", "MPI_F08_STATUSES_IGNORE", "MPIR_Dup_fn"}


def names_shown(library):
    done = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    return {line.split()[2]: line.split()[1] for line in done.stdout.splitlines()
            if not re.match(r"(__asan|__ubsan|__tsan|__lsan|__odr|_{1,2}sanitizer)", line.split()[2])}


@pytest.fixture(scope="module", name="functions")
def described():
    sys.path.insert(0, str(ROOT / "api"))
    sys.dont_write_bytecode = True
    from generator.abi import ForeignAbi
    from generator.description import Description
    return {name for function in ForeignAbi(Description(), "mpich_abi").functions
            for name, _ in function.forms()}


def test_shows_its_functions_under_both_names_and_its_variables(library, functions):
    found = names_shown(library)
    assert set(found) == functions | {"P" + name for name in functions} | MORE
    assert {name for name in functions if found[name] != "W" or found["P" + name] != "T"} == set()


def test_is_found_under_all_its_names(library):
    dynamic = subprocess.run(["readelf", "-d", "-V", library], capture_output=True, text=True,
                             check=True).stdout
    assert ("Library soname: [libmpi.so.12]" in dynamic and "[$ORIGIN]" in dynamic
            and "[liblanyard.so.0]" in dynamic)
    assert "Version definition section" not in dynamic
    assert (library.parent / "libmpich.so.12").resolve() == library.resolve()
    # A linker searches for libmpi.so or libmpich.so. libmpi.so must lead to the library for the standard's
    # ABI (tests/launch/test_linking.py). libmpich.so must not exist: it would lead to this library, for which
    # no mpi.h is installed.
    assert ((library.parent / "libmpi.so").resolve() != library.resolve()
            and not (library.parent / "libmpich.so").exists())


ASK_VERSION = """
import ctypes, sys
library, text, length = ctypes.CDLL(sys.argv[1]), ctypes.create_string_buffer(8192), ctypes.c_int()
assert library.MPI_Get_library_version(text, ctypes.byref(length)) == 0 and length.value == len(text.value)
print(text.value.decode(), end="")
"""


def version_of(library):
    return subprocess.run([sys.executable, "-c", ASK_VERSION, library], capture_output=True, text=True,
                          check=True, env=clean_environment()).stdout


def test_text_of_the_version_is_understood(library, unsanitized):
    """The version text must begin as mpi4py (sscanf) and MPI.jl expect it of a library of this ABI.

    The text of the library for the standard's ABI must not begin like this.
    """
    text, other = version_of(library), version_of(library.parent / "libmpi_abi.so.1")
    assert re.match(r"MPICH2? Version:\s+(\d+\.\d+(?:\.\d+)?\w*)\n", text)[1] == MPICH.partition("==")[2]
    assert re.fullmatch(r"Lanyard \d+\.\d+\.\d+", text.splitlines()[1])
    assert other == text.splitlines()[1]


@pytest.mark.parametrize("order", [[], ["other-first"]], ids=["standard first", "other first"])
@pytest.mark.parametrize("ranks", [0, 2], ids=["alone", "two ranks"])
def test_a_process_uses_one_door(job, library, order, ranks):
    program = BUILD / "tests" / "mpich-two-doors"
    if ranks:
        code, out, err = job(ranks, program, *order)
    else:
        done = subprocess.run([program, *order], capture_output=True, text=True, timeout=60, check=False,
                              env=clean_environment(LD_LIBRARY_PATH=str(library.parent)))
        code, out, err = done.returncode, done.stdout, done.stderr
    first, second = ("libmpi.so.12", "libmpi_abi.so.1") if order else ("libmpi_abi.so.1", "libmpi.so.12")
    assert (code, out) == (1, "")
    assert f"this process uses MPI through {first} and now initialises it again through {second}" in err
    if not ranks:
        assert len(err.splitlines()) == 1


@pytest.mark.parametrize("door", ["mpi", "mpich"])
def test_the_cost_of_a_call_can_be_measured(door):
    """Checks only that the program works, because a busy machine must not make a test fail.

    The measured costs are in bench/RESULTS.md.
    """
    done = subprocess.run([BUILD / "bin" / f"{door}-cost", "--json"], capture_output=True, text=True,
                          timeout=60, check=True, env=clean_environment())
    rows = {row["name"]: row for row in json.loads(done.stdout)["results"]}
    assert set(rows) == {"MPI_Comm_rank", "send and receive to oneself"}
    assert all(row["median"] > 0 and row["unit"] == "ns" for row in rows.values())
