"""Checks the program classes.cc: it raises each error class of mpi.h or omits it for a stated reason.

The reason is a sentence or the name of a function that the library lacks.
"""
import json
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module", name="build")
def build_folder():
    if not os.environ.get("LANYARD_BUILD"):
        pytest.skip("LANYARD_BUILD does not name a build folder")
    return pathlib.Path(os.environ["LANYARD_BUILD"])


@pytest.fixture(scope="module", name="rows")
def listed(build):
    output = subprocess.run([build / "tests" / "mpi-errors-classes", "--list"], capture_output=True,
                            text=True, check=True).stdout
    return [line.split(" ", 2) for line in output.splitlines()]


def test_every_class_is_in_one_list_once(rows):
    header = (ROOT / "include" / "mpi.h").read_text()
    classes = set(re.findall(r"^#define (MPI_ERR_\w+)", header, re.MULTILINE)) - {"MPI_ERR_LASTCODE"}
    names = [row[1] for row in rows]
    assert len(names) == len(set(names)), "a class is listed twice"
    assert set(names) == classes


def test_classes_are_left_out_only_for_functions_that_are_missing(build, rows):
    output = subprocess.run([build / "bin" / "lanyard", "info", "--coverage", "--json"], capture_output=True,
                            text=True, check=True).stdout
    implemented = {function["name"]: function["implemented"] for function in json.loads(output)["functions"]}
    for row in rows:
        if row[0] == "left" and not row[2].startswith("- "):
            assert not implemented[row[2]], (
                f"{row[2]} exists now: raise {row[1]} in tests/mpi/errors/classes.cc")
