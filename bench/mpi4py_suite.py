"""Runs mpi4py's own tests on a library, counts them and measures their time. Used by bench/run.

Lanyard, MPICH and Open MPI run the same wheel from PyPI and the same tests, through tests/mpi4py/run. The
tests that tests/mpi4py/left_out.txt names run on none of the libraries. A test counts as in tests/mpi4py/run:
it has failed if a rank failed, and was skipped if all ranks skipped it. The time is that of the whole job.
"""
import functools
import importlib.machinery
import importlib.util
import sys
import tempfile
import xml.etree.ElementTree as xml
from pathlib import Path

import routes
from measure import Failed, run_command
from peers import say

TESTS = Path(__file__).resolve().parent.parent / "tests" / "mpi4py"
LIMIT_SECONDS = 1500  # tests/mpi4py/run itself stops long before
SKIPPED_ALONE = "skipped here, run by the better of the others"
# Prints the first line of the library's version. If Lanyard runs with MPICH's ABI, its own name is in the
# second line.
SHOW_VERSION = ("from mpi4py import MPI; lines = MPI.Get_library_version().splitlines(); "
                "line = next((line for line in lines if line.startswith('Lanyard')), lines[0]); "
                "print(*line.partition(',')[0].split())")
# The settings that the wheel and the launcher need: the ABI, and permission to start more ranks than
# processors.
ENVIRONMENTS = {"lanyard": {}, "mpich": {},
                "openmpi": {"MPI4PY_MPIABI": "openmpi",
                            "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}}


def choose(libraries):
    """Returns the libraries that take part, with the settings that the tests need."""
    return {key: routes.changed(library, environment=ENVIRONMENTS[key])
            for key, library in libraries.items() if key in ENVIRONMENTS}


@functools.cache
def wheel():
    """Returns (the Python of an environment with mpi4py's wheel, the folder of mpi4py's tests).

    tests/mpi4py/build makes both once.
    """
    loader = importlib.machinery.SourceFileLoader("mpi4py_build", str(TESTS / "build"))
    build = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.dont_write_bytecode = True
    loader.exec_module(build)
    try:
        return build.provide_wheel(TESTS.parent.parent / ".venv")
    except build.BuildError as problem:
        raise Failed(str(problem)) from None


@functools.cache
def version(library):
    """Returns the library that mpi4py reports. This must be the library whose launcher starts mpi4py."""
    words = run_command(library, [*library.launcher(1), wheel()[0], "-c", SHOW_VERSION]).strip()
    if not words.startswith(library.title):
        raise Failed(f"mpi4py runs on '{words}' there")
    return words


def run_suite(library, ranks, outcomes):
    """Returns the seconds and the numbers of tests, in the form of measure.run_json.

    `outcomes` receives the outcome of each test, by the key of the library.
    """
    python, sources = wheel()
    told = version(library)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        where = (["--wheel", "--build", library.home] if library.key == "lanyard" else
                 ["--mpirun", library.launcher(1)[0], "--python", python, "--sources", sources])
        try:
            run_command(library, [sys.executable, TESTS / "run", "--ranks", str(ranks), "--report", report,
                                  *where], LIMIT_SECONDS)
        except Failed:
            if not report.exists():  # otherwise a test has failed, and the report says which
                raise
        seconds, outcomes[library.key], failures = read_report(report, ranks)
    for name, words in failures.items():
        say(f"{library.title}, {ranks} ranks: {name} failed: {words}")
    counts = {outcome: list(outcomes[library.key].values()).count(outcome)
              for outcome in ("passed", "failed", "skipped")}
    return told, {"wall time": (seconds, "s"),
                  **{outcome: (count, "tests") for outcome, count in counts.items()}}


def read_report(path, ranks):
    """Reads a JUnit file of tests/mpi4py/run.

    Returns (seconds of the job, {test: passed, failed or skipped}, {failed test: its message}).
    """
    suite, = (suite for suite in xml.parse(path).getroot() if suite.get("name").endswith(f".n{ranks}"))
    outcomes, failures = {}, {}
    for case in suite:
        name = f"{case.get('classname')}.{case.get('name')}".removeprefix(suite.get("name") + ".")
        if (failure := case.find("failure")) is not None:
            failures[name] = failure.get("message", "")
        outcomes[name] = ("failed" if failure is not None else
                          "skipped" if case.find("skipped") is not None else "passed")
    return float(suite.get("time")), outcomes, failures


def skipped_alone(outcomes, own="lanyard"):
    """Returns the tests that did not run on Lanyard but ran on the other library that ran the most tests."""
    ran = {key: {name for name, outcome in tests.items() if outcome != "skipped"}
           for key, tests in outcomes.items()}
    others = [tests for key, tests in ran.items() if key != own]
    return sorted(max(others, key=len) - ran[own]) if others and own in ran else None


def add_skipped_alone(series, outcomes, own="lanyard"):
    """Adds to the series the number of tests that skipped_alone() returns for the last round. Returns their
    names."""
    names = skipped_alone(outcomes, own)
    if names is not None:
        series.units[SKIPPED_ALONE] = "tests"
        series.values[own][SKIPPED_ALONE] = [len(names)]
    return names or []
