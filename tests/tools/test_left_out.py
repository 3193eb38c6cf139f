"""Tests which reasons in tests/mpi4py/left_out.txt the script tests/mpi4py/run accepts for leaving out a test
of mpi4py."""
import importlib.machinery
import importlib.util
import pathlib
import sys
import xml.etree.ElementTree as xml

import pytest

PATH = pathlib.Path(__file__).resolve().parents[1] / "mpi4py" / "run"
INTERFACE = {"MPI_Win_create": False, "MPI_Send": True}


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Loads the script as a module. Its list is replaced by a file that the test writes."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    loader = importlib.machinery.SourceFileLoader("mpi4py_run", str(PATH))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    monkeypatch.setattr(module, "LEFT_OUT", tmp_path / "left_out.txt")
    return module


def read(run, text, interface=None):
    run.LEFT_OUT.write_text(text)
    return list(run.left_out_lines(interface))


def test_a_reason_is_a_function_or_words(run):
    text = "# of all\n\ntest_win  # MPI_Win_create, MPI_Send\ntest_a.B.c  # reason: it divides by nought\n"
    assert read(run, text, INTERFACE) == [("test_win", ["MPI_Win_create", "MPI_Send"]), ("test_a.B.c", [])]
    assert run.left_out_modules() == ["test_win"]


@pytest.mark.parametrize("line", ["test_win", "test_win  #", "test_win  # later", "test_win  # reason:",
                                  "test_win  # MPI_Send, later"])
def test_no_other_reason_is_taken(run, line):
    with pytest.raises(SystemExit, match="left_out.txt:2: expected"):
        read(run, f"# of all\n{line}\n")


def test_a_function_that_mpi_does_not_have_is_refused(run):
    with pytest.raises(SystemExit, match="left_out.txt:1: MPI_Comm_iagree is no function of MPI"):
        read(run, "test_ulfm  # MPI_Comm_iagree\n", INTERFACE)
    # A run with another library has no list of functions.
    assert read(run, "test_ulfm  # MPI_Comm_iagree\n") == [("test_ulfm", ["MPI_Comm_iagree"])]


def test_a_function_that_exists_is_a_failure(run):
    read(run,
         "test_win  # MPI_Win_create\ntest_p2p  # MPI_Send\ntest_a.B.c  # reason: it divides by nought\n")
    suite = xml.Element("testsuite")
    run.check_left_out(INTERFACE, suite)
    failures = {case.get("name"): case.find("failure") is not None for case in suite}
    assert failures == {"test_win": False, "test_p2p": True}
    run.check_left_out(None, suite)
    assert suite[-1].get("name") == "coverage" and suite[-1].find("failure") is not None
