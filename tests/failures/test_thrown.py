"""Tests exceptions that a program's functions throw and that the program does not catch or cannot catch.

One test is different: the program catches the exceptions, and its profile must still be correct. How such a
program continues is tested by tests/mpi/errors/thrown.cc.
"""
import json
import pathlib

import pytest

ABORTED = 134
SOURCE = pathlib.Path(__file__).with_name("programs") / "thrown.cc"


@pytest.fixture
def thrown(mpirun, built):
    return built("thrown", SOURCE.read_text(), mpirun.build / "bin" / "mpicxx", "-pthread", suffix=".cc")


@pytest.mark.parametrize(("which", "function"), [
    ("operation", "an operation"), ("handler", "an error handler"), ("delete", "a delete function"),
])
def test_what_nobody_catches_ends_the_process_with_its_text(mpirun, thrown, which, function):
    code, out, err = mpirun.run("-n", 2, thrown, which)
    assert (code, out) == (ABORTED, "")
    assert ("terminate called after throwing an instance of 'std::runtime_error'\n  what():  thrown by "
            f"{function}\n") in err


def test_thread_that_ends_in_an_operation(mpirun, thrown):
    code, out, err = mpirun.run("-n", 2, thrown, "ended-operation")
    assert (code, out) == (ABORTED, "")
    assert ("Lanyard: the program's function of an operation has ended its thread (pthread_exit or "
            "pthread_cancel) in the middle of a call") in err


def test_events_cannot_throw(mpirun, thrown):
    code, out, err = mpirun.run("-n", 1, thrown, "event")
    assert (code, out) == (ABORTED, "")
    assert ("Lanyard: a function of a tool that is told of events threw an exception of type "
            "std::runtime_error; ") in err


def test_calls_left_by_exceptions_are_timed(mpirun, thrown, tmp_path):
    code, out, err = mpirun.run("--profile", "-n", 2, thrown, "profiled", cwd=tmp_path)
    assert (code, out) == (0, ""), err
    (file,) = tmp_path.glob("lanyard-profile-*.json")
    for rank in json.loads(file.read_text())["ranks"]:
        assert {name: call["calls"] for name, call in rank["calls"].items()
                if name in ("MPI_Send", "MPI_Barrier")} == {"MPI_Send": 3, "MPI_Barrier": 5}
