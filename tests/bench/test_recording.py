"""Tests bench/recording.py, which writes measured series as files of bench/results, with made-up series."""
import json
import pathlib
import sys
from types import SimpleNamespace

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import ours_record  # noqa: E402
import page_tables  # noqa: E402
import recording  # noqa: E402
import series_file  # noqa: E402
from machine_state import Look  # noqa: E402
from measure import Series  # noqa: E402
from verdicts import Cell, Pair  # noqa: E402

LIBRARIES = {"lanyard": SimpleNamespace(title="Lanyard"), "mpich": SimpleNamespace(title="MPICH")}


def written(folder, name, values):
    series = Series(name)
    for key, column in values.items():
        for number, value in enumerate(column):
            series.add(SimpleNamespace(key=key), number, "1.0", {8: (value, "us")})
    recording.write(folder, series, name, "shared memory", LIBRARIES, "2026-11-26 12:00 UTC", ranks=2,
                    command=recording.command_line("bench/run", ["--only", f"{name},a b"]))


def test_a_series_is_written_with_what_has_to_be_known(tmp_path):
    written(tmp_path / "new", "latency", {"lanyard": [1.0, 2.0], "mpich": [3.0]})
    record = series_file.read(tmp_path / "new" / "latency.json")
    assert record.series.values == {"lanyard": {8: [1.0, 2.0]}, "mpich": {8: [3.0]}}
    assert record.libraries == {"lanyard": "Lanyard", "mpich": "MPICH"} and record.first == "lanyard"
    assert record.command == "bench/run --only 'latency,a b'" and record.begun == "2026-11-26 12:00 UTC"
    assert record.ended.endswith(" UTC") and record.machine["processors"] > 0 and record.machine["kernel"]


def test_what_has_figures_is_kept_and_its_goals_are_judged_from_now_on(tmp_path):
    written(tmp_path / "out", "latency", {"lanyard": [1.0]})
    written(tmp_path / "out", "rate", {})
    results = tmp_path / "results"
    results.mkdir()
    (results / "goals.json").write_text('{"format": 1, "goals": [{"series": "latency"}, {"series": "rate"}]}')
    assert recording.keep(["latency", "rate", "line"], tmp_path / "out", results) == ["latency"]
    assert sorted(path.name for path in results.iterdir()) == ["goals.json", "latency.json"]
    assert json.loads((results / "goals.json").read_text())["goals"] == [{"series": "rate"}]


def test_figures_of_one_round_become_a_series():
    series = recording.one_round("limits", {"machine": {"line": (60.0, "ns"), "cma": (15.0, "GB/s")}})
    assert series.values == {"machine": {"line": [60.0], "cma": [15.0]}}
    assert series.units == {"line": "ns", "cma": "GB/s"}


def test_pairs_of_two_builds_become_a_series_with_verdicts(tmp_path):
    near, far = Look(60, 3), Look(250, 10)
    cell = Cell("latency", "shm")
    a, b = ({8: (1.0, "us"), 64: (value, "us")} for value in (1.0, 2.0))
    pairs = [Pair(number, cell, "A", a, b, near, far)
             for number in range(1, 8)]
    runs = SimpleNamespace(pairs=pairs[:3] + pairs[4:], busy=[0.0] * 7, versions={"A": "1", "B": "2"},
                           failures={cell: ["B: exit code 3: broken"]})
    builds = [SimpleNamespace(key=key, home=pathlib.Path("/", key)) for key in "AB"]
    recording.write(tmp_path, ours_record.series_of(runs), ours_record.NAME, ours_record.SECTION,
                    ours_record.libraries_of(*builds), recording.now())
    record = series_file.read(tmp_path / "before-after.json")
    assert record.series.values["B"]["shm latency", 64] == [2.0, 2.0, 2.0, None, 2.0, 2.0, 2.0]
    assert record.series.looks == [(near, far)] * 3 + [(None, None)] + [(near, far)] * 3
    assert record.series.failures == {"B": ["exit code 3: broken"]}
    assert page_tables.words_of(record) == "1 level, 1 slower"
