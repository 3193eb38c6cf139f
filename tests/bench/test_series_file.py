"""Tests bench/series_file.py: a series must be read as it was written, and damage must be reported with its
place."""
import json
import pathlib
import sys

import pytest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import series_file  # noqa: E402
from machine_state import Look  # noqa: E402
from measure import Loss, Series  # noqa: E402
from record import Ratio, Record, Summary  # noqa: E402

ROWS = [8, 1 << 20, "barrier", "mpi - line", ("bcast", 8), ("late", 65 << 10), ("1 MiB", Loss(0.1)),
        ("a", "b", 1), Loss(5)]


def record_of(series, **more):
    return Record(series, name="made-up", group="network", libraries={"lanyard": "Lanyard", "mpich": "MPICH"},
                  first="lanyard", **more)


def sampled():
    series = Series("made up, 2 ranks")
    series.units = {row: "us" for row in ROWS}
    series.values = {"lanyard": {row: [1.5, None, 3] for row in ROWS}, "mpich": {8: [None, 0.1 + 0.2, 1e-9]}}
    series.versions = {"lanyard": "Lanyard 0.1.0"}
    series.failures = {"mpich": ["no end after 120 seconds", "exit code 1: \"quoted\""]}
    series.busy = [0.01, 0.5, 0.0]
    series.looks = [(Look(60.5, 3.2), None), (Look(250, 10), Look(61, 3)), (None, None)]
    series.counted = {"lanyard": [(1010, 1000), (2, 3)]}
    return record_of(series, ranks=2, route="tcp", command="bench/run --only made-up", commit="1234567",
                     begun="2026-11-24 16:44 UTC", ended="2026-11-24 16:50 UTC", machine={"processors": 2})


def summarised():
    series = Series("summaries alone")
    series.units = {8: "us", ("bcast", 8): "us"}
    series.failures = {"mpich": ["no end", None]}
    summaries = {"lanyard": {8: Summary(1.5, 1, 2, 0.5, 15), ("bcast", 8): Summary(31994)},
                 "mpich": {8: Summary(3, 2, 4, 1, 15, Ratio(0.5, 0.4, 0.6), Ratio(1, 1, 1), "level")}}
    return record_of(series, layout="grid", summaries=summaries, counted_per_sent={"lanyard": 1.01},
                     gains={("bcast", 8): Ratio(1.24, 1.09, 1.29)}, notes=["A note."])


def again(record, folder):
    path = folder / "made-up.json"
    series_file.write(path, record)
    return series_file.read(path)


@pytest.mark.parametrize("row", ROWS)
def test_a_row_is_read_back_with_its_kind(row):
    back = series_file.decode_row(json.loads(json.dumps(series_file.encode_row(row))))
    assert back == row and repr(back) == repr(row)


@pytest.mark.parametrize("row", [True, 1.5, None, ("a", None)])
def test_what_is_no_row_is_not_written(row):
    with pytest.raises(TypeError, match="is not a row"):
        series_file.encode_row(row)


@pytest.mark.parametrize("make", [sampled, summarised])
def test_a_series_is_read_back_as_it_was(make, tmp_path):
    record = make()
    back = again(record, tmp_path)
    assert vars(back.series) == vars(record.series)
    assert list(back.series.units) == list(record.series.units)
    assert {**vars(back), "series": None} == {**vars(record), "series": None}


def test_the_samples_of_a_row_are_one_line(tmp_path):
    again(sampled(), tmp_path)
    lines = (tmp_path / "made-up.json").read_text().splitlines()
    assert '  {"row": ["bcast", 8], "library": "lanyard", "values": [1.5, null, 3]},' in lines


def damaged(tmp_path, change):
    again(sampled(), tmp_path)
    path = tmp_path / "made-up.json"
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    with pytest.raises(series_file.Damaged) as found:
        series_file.read_all(tmp_path)
    words = str(found.value)
    assert words.startswith(f"{path}, ") and "git checkout" in words and "bench/run --record" in words
    return words


@pytest.mark.parametrize(("change", "words"), [
    (lambda data: data.pop("rows"), 'at the top: "rows" is missing'),
    (lambda data: data.update(format=2), '"format" is 2, and this reads format 1'),
    (lambda data: data.update(summaries=[]), 'either "samples" or "summaries"'),
    (lambda data: data.pop("samples"), 'either "samples" or "summaries"'),
    (lambda data: data.update(ranks="two"), '"ranks" is "two"'),
    (lambda data: data.update(name="other"), '"name" is "other"'),
    (lambda data: data.update(first="other"), '"first" is "other"'),
    (lambda data: data.update(layout="round"), '"layout" is "round"'),
    (lambda data: data["rows"][1].update(row=1.5), 'entry 2 of "rows": "row" is 1.5'),
    (lambda data: data["samples"][2].update(row=9), 'entry 3 of "samples": the row 9 is not in "rows"'),
    (lambda data: data["samples"][0].update(library="x"), 'the library "x" is not in "libraries"'),
    (lambda data: data["samples"][0].update(values=[1, "2"]), 'entry 1 of "samples": "2" is not a number'),
    (lambda data: data["rounds"][0].update(before={"line": 1}), 'entry 1 of "rounds": '),
    (lambda data: data["failures"].append(3), 'entry 3 of "failures": it is not an object'),
])
def test_damage_is_reported_with_its_place_and_what_to_do(change, words, tmp_path):
    assert words in damaged(tmp_path, change)


def test_what_is_not_json_is_reported_with_its_line(tmp_path):
    (tmp_path / "x.json").write_text('{\n "format": 1,\n')
    with pytest.raises(series_file.Damaged, match="line 3: it is not JSON"):
        series_file.read(tmp_path / "x.json")


def test_a_damaged_summary_is_reported(tmp_path):
    again(summarised(), tmp_path)
    path = tmp_path / "made-up.json"
    path.write_text(path.read_text().replace('"ratio": [0.5, 0.4, 0.6]', '"ratio": [0.5, 0.4]'))
    with pytest.raises(series_file.Damaged, match='entry 2 of "summaries": a ratio has three numbers'):
        series_file.read(path)


def test_every_recorded_series_is_written_as_it_stands():
    records = series_file.read_all(ROOT / "bench" / "results")
    for name, record in records.items():
        text = (ROOT / "bench" / "results" / f"{name}.json").read_text()
        assert series_file.text_of(series_file.encode(record)) == text, name
