"""Tests bench/mpi4py_suite.py with a made-up tests/mpi4py/run.

It must derive the right results from the report, and the goals must be decided by them.
"""
import json
import pathlib
import sys

import pytest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import goals  # noqa: E402
import measure  # noqa: E402
import mpi4py_suite  # noqa: E402
import peers  # noqa: E402

# This harness writes the report of the library that its launcher names. LIBRARY.json contains [seconds,
# {test: outcome}].
HARNESS = """
import json, pathlib, sys
here, words = pathlib.Path(__file__).parent, sys.argv[1:]
key = "lanyard" if "--wheel" in words else pathlib.Path(words[words.index("--mpirun") + 1]).name
suite = f"mpi4py{'-wheel' if key == 'lanyard' else ''}.n{words[words.index('--ranks') + 1]}"
seconds, tests = json.loads((here / f"{key}.json").read_text())
marks = {"passed": "", "failed": "<failure message='one is not two'/>", "skipped": "<skipped/>"}
cases = "".join(f'<testcase classname="{suite}.test_a" name="{name}">{marks[outcome]}</testcase>'
                for name, outcome in tests.items())
pathlib.Path(words[words.index("--report") + 1]).write_text(
    f'<testsuites><testsuite name="other"/><testsuite name="{suite}" time="{seconds}">{cases}</testsuite>'
    '</testsuites>')
sys.exit("failed" in tests.values())
"""
OUTCOMES = {
    "lanyard": [10.5, {"a": "passed", "b": "skipped", "c": "failed"}],
    "mpich": [20, {"a": "passed", "b": "passed", "c": "skipped"}],
    "openmpi": [30, {"a": "skipped", "b": "skipped", "c": "passed"}],
}


def library(key, **environment):
    return peers.Library(key, key.title(), pathlib.Path("/"), None,
                         lambda ranks: [f"/bin/{key}", "-n", str(ranks)], environment)


@pytest.fixture
def harness(tmp_path, monkeypatch):
    (tmp_path / "run").write_text(HARNESS)
    for key, told in OUTCOMES.items():
        (tmp_path / f"{key}.json").write_text(json.dumps(told))
    monkeypatch.setattr(mpi4py_suite, "TESTS", tmp_path)
    monkeypatch.setattr(mpi4py_suite, "wheel", lambda: ("python", "sources"))
    monkeypatch.setattr(mpi4py_suite, "version", lambda library: f"{library.title} 1")
    return tmp_path


def test_three_libraries_take_part_with_what_they_need():
    chosen = mpi4py_suite.choose({key: library(key, A="b") for key in peers.ALL})
    assert list(chosen) == ["lanyard", "mpich", "openmpi"]
    assert (chosen["mpich"].environment == {"A": "b"} and
            chosen["openmpi"].environment["MPI4PY_MPIABI"] == "openmpi")


def test_tests_are_counted_and_the_goals_judged(harness, capsys):
    libraries, outcomes = {key: library(key) for key in OUTCOMES}, {}
    series = measure.alternate("mpi4py-2", libraries, 2, lambda one: mpi4py_suite.run_suite(one, 2, outcomes),
                               quiet_seconds=0)
    assert capsys.readouterr().err.count("Lanyard, 2 ranks: test_a.c failed: one is not two") == 2
    assert series.failures == {} and series.versions["mpich"] == "Mpich 1"
    assert outcomes["lanyard"] == {f"test_a.{name}": outcome
                                   for name, outcome in OUTCOMES["lanyard"][1].items()}
    assert {row: values[0] for row, values in series.values["openmpi"].items()} == {
        "wall time": 30, "passed": 1, "failed": 0, "skipped": 2}
    assert mpi4py_suite.add_skipped_alone(series, outcomes) == ["test_a.b"]
    judged = [goal.judge(series, libraries) for goal in goals.GOALS if goal.part == "mpi4py-2"]
    assert [(ours.split()[0], bound, verdict) for ours, bound, _, verdict in judged] == [
        ("10.5", "20 s", "kept"), ("1", "0 tests", "missed"), ("1", "0 tests", "missed")]


def test_a_run_without_a_report_is_told(harness):
    (harness / "mpich.json").unlink()
    with pytest.raises(measure.Failed, match="exit code 1: .*mpich.json"):
        mpi4py_suite.run_suite(library("mpich"), 2, {})


@pytest.mark.parametrize(("outcomes", "names"), [
    ({"lanyard": {"a": "failed"}, "mpich": {"a": "passed"}}, []),
    ({"lanyard": {}, "mpich": {"a": "passed"}, "openmpi": {}}, ["a"]),
    ({"lanyard": {"a": "skipped"}}, None),
    ({"mpich": {"a": "passed"}, "openmpi": {}}, None),
])
def test_skipped_here_alone(outcomes, names):
    assert mpi4py_suite.skipped_alone(outcomes) == names


def test_the_library_must_be_the_one_whose_launcher_was_called(monkeypatch):
    monkeypatch.setattr(mpi4py_suite, "wheel", lambda: ("python", "sources"))
    other = peers.Library("mpich", "MPICH", pathlib.Path("/"), None,
                          lambda ranks: ["/bin/echo", "Intel MPI"], {})
    with pytest.raises(measure.Failed, match="runs on 'Intel MPI"):
        mpi4py_suite.version(other)
