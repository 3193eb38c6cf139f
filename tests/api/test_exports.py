"""Tests the symbols and dependencies of the libraries. libmpi_abi.so.1 must export the standard's functions
under both names and nothing else."""
import os
import re
import subprocess

import pytest

SANITIZED = re.compile(r"^(__asan|__ubsan|__tsan|__lsan|__odr|_{1,2}sanitizer)")


def symbols(library):
    done = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    found = [line.split()[1:] for line in done.stdout.splitlines()]
    return {name: kind for kind, name in found if not SANITIZED.match(name)}


def dynamic(library):
    return subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout


def test_functions_under_both_names_and_nothing_else(description, library):
    names = {name for function in description.functions for name, _large in function.forms()}
    wanted = {name: "W" for name in names} | {"P" + name: "T" for name in names}
    found = symbols(library)
    assert sorted(set(found) - set(wanted)) == []
    assert sorted(set(wanted) - set(found)) == []
    assert {name: kind for name, kind in found.items() if kind != wanted[name]} == {}


def test_no_symbol_versions(library):
    done = subprocess.run(["readelf", "-V", library], capture_output=True, text=True, check=True)
    assert "Version definition section" not in done.stdout


def test_finds_the_core_beside_itself(library):
    text = dynamic(library)
    assert "Library soname: [libmpi_abi.so.1]" in text
    assert "[$ORIGIN]" in text and "RUNPATH" in text and "RPATH)" not in text.replace("RUNPATH)", "")
    assert "[liblanyard.so.0]" in text


@pytest.mark.parametrize("name", ["libmpi_abi.so.1", "libmpi.so.12", "liblanyard.so.0"])
def test_needs_the_unwinder_and_no_cxx_runtime(library, name):
    """Exceptions of the program's functions pass through the library, so program and library must share the
    unwinder (libgcc_s). The C++ runtime must be linked into the library and hidden."""
    library = library.parent / name
    if "__asan_init" in subprocess.run(["nm", "-D", library], capture_output=True, text=True,
                                       check=True).stdout or \
            "tsan" in os.environ.get("LANYARD_BUILD", ""):
        pytest.skip("a library built with sanitizers needs their runtime")
    needed = re.findall(r"Shared library: \[(.*)\]", dynamic(library))
    assert "libgcc_s.so.1" in needed and not [name for name in needed if "stdc++" in name], needed
    others = {"liblanyard.so.0", "libgcc_s.so.1", "libc.so.6", "libm.so.6"}
    assert [name for name in needed if name not in others and not name.startswith("ld-linux")] == []


def test_core_names_nothing_of_mpi(library):
    """The core must not call or export functions whose names begin with MPI_ or PMPI_."""
    core = library.parent / "liblanyard.so.0"
    done = subprocess.run(["nm", "-D", core], capture_output=True, text=True, check=True)
    assert re.findall(r" (P?MPI_\w+)", done.stdout) == []


def test_core_shows_only_what_the_doors_need(library):
    """The core may export only lanyard_*, the functions with which a front end refuses an argument or
    measures its time, and symbols that the C++ library makes weak or unique."""
    core = library.parent / "liblanyard.so.0"
    allowed = re.compile(r"lanyard_\w+|lanyard::fail\(.*|lanyard::complaint::\w+\(.*|lanyard::timing::.*")
    done = subprocess.run(["nm", "-DC", "--defined-only", core], capture_output=True, text=True, check=True)
    found = [line.split(maxsplit=2)[1:] for line in done.stdout.splitlines()]
    weak = {"W", "V", "u"}
    other = [name for kind, name in found
             if not allowed.fullmatch(name) and not (kind in weak and not name.startswith("lanyard")) and
             not SANITIZED.match(name)]
    assert other == []
    doors = [library, library.parent / "libmpi.so.12"]
    asked = subprocess.run(["nm", "-DC", "--undefined-only", *doors], capture_output=True, text=True,
                           check=True)
    needed = set(re.findall(r" U (lanyard::.+)", asked.stdout))
    assert {name for _, name in found if name.startswith("lanyard::")} == needed


def test_every_typed_function_of_the_core_is_described(description, library):
    core = library.parent / "liblanyard.so.0"
    done = subprocess.run(["nm", "-D", "--defined-only", core], capture_output=True, text=True, check=True)
    described = {f"lanyard_{function.core}" for function in description.functions if not function.door}
    beside = {"lanyard_handles", "lanyard_process_state", "lanyard_neighbors", "lanyard_use_door",
              "lanyard_null_datatype"}
    assert set(re.findall(r" [TWBD] (lanyard_\w+)", done.stdout)) - described - beside == set()
