"""Tests that every function that the library implements is called by some program of the tests or the
examples. Otherwise the function could break unnoticed. Names in comments and strings do not count."""
import json
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)

# The programs of tests/api use a fake core, so they do not call the library's own functions. A header calls
# no functions.
LEFT_OUT = {ROOT / "tests" / "api", ROOT / "tests" / "mpich_abi" / "include"}


def programs():
    """The sources of the programs that call the library."""
    for folder in (ROOT / "tests", ROOT / "examples"):
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".c", ".cc", ".h") and path.is_file() and not LEFT_OUT & set(path.parents):
                yield path


def names_in(text):
    return set(re.findall(r"\bMPI_[A-Za-z]\w*", NOT_CODE.sub(" ", text)))


# What the library does not have yet: whole chapters, and in other chapters the functions with a window as an
# argument.
MISSING_CHAPTERS = {"One-sided communication", "Files", "Process creation and connection"}
MISSING_ELSEWHERE = {"MPI_Win_call_errhandler", "MPI_Win_delete_attr", "MPI_Win_get_attr",
                     "MPI_Win_get_errhandler", "MPI_Win_set_attr", "MPI_Win_set_errhandler"}


@pytest.fixture(scope="module", name="functions")
def coverage(library):
    command = [library.parents[1] / "bin" / "lanyard", "info", "--coverage", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["functions"]


@pytest.fixture(scope="module", name="implemented")
def implemented_functions(functions):
    return [function["name"] for function in functions if function["implemented"]]


def test_nothing_is_missing_but_what_belongs_to_windows_files_and_new_processes(functions):
    missing = {function["name"] for function in functions
               if not function["implemented"] and function["chapter"] not in MISSING_CHAPTERS}
    assert missing == MISSING_ELSEWHERE


def test_every_implemented_function_is_called_by_a_program(implemented):
    assert "MPI_Send" in implemented
    named = set().union(*(names_in(path.read_text()) for path in programs()))
    missing = [name for name in implemented if name not in named]
    assert not missing, "no program in tests/ or examples/ calls\n  " + "\n  ".join(missing) + \
        "\nwrite a test in tests/mpi that does and verifies the result"


def test_comments_and_texts_are_no_calls():
    text = ('// MPI_Aa\n/* MPI_Bb\n MPI_Cc */ MPI_Dd(x); fail("MPI_Ee \\" MPI_Ff"); constexpr auto f = '
            'MPI_Gg;\n')
    assert names_in(text) == {"MPI_Dd", "MPI_Gg"}
