"""Provides the fixtures that the tests of the description, the header and the ABI front end share."""
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "api"), str(ROOT / "tests" / "api")]
sys.dont_write_bytecode = True


@pytest.fixture(scope="session")
def description():
    from generator.description import Description
    return Description()


@pytest.fixture(scope="session")
def facts():
    """A function table(name) that returns the rows of a table of facts about MPI-5.0. The facts come from
    outside the project and check the description independently."""
    folder = pathlib.Path(os.environ.get("LANYARD_SHARED", ROOT.parent / "shared")) / "mpi-5.0"
    if not folder.is_dir():
        pytest.skip(
            f"no facts of MPI-5.0 to compare with: {folder} is not there (LANYARD_SHARED names the folder "
            "above)")

    def table(name):
        lines = (folder / f"{name}.tsv").read_text().split("\n")
        names = lines[0].split("\t")
        return [dict(zip(names, line.split("\t"))) for line in lines[1:] if line]
    return table


@pytest.fixture(scope="session")
def library():
    build = os.environ.get("LANYARD_BUILD")
    if not build:
        pytest.skip("LANYARD_BUILD does not name a build folder")
    return pathlib.Path(build) / "lib" / "libmpi_abi.so.1"


@pytest.fixture
def compile_c(tmp_path):
    """Compiles a text against include/mpi.h and returns the compiler's messages, '' if there are none."""
    def compile_text(text, *options, compiler="gcc", suffix=".c"):
        source = tmp_path / f"program{suffix}"
        source.write_text(text)
        command = [compiler, *options, f"-I{ROOT / 'include'}", "-fsyntax-only", source]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode == 0) or done.stderr
        return done.stderr
    return compile_text
