"""Tests bench/standing.py: which figures of a series are won and lost, for samples and for summaries
alike."""
import pathlib
import sys

import pytest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import page_tables  # noqa: E402
import standing  # noqa: E402
from measure import Series  # noqa: E402
from record import Ratio, Record, Summary  # noqa: E402

TITLES = {"lanyard": "Lanyard", "mpich": "MPICH", "openmpi": "Open MPI", "tcp": "raw TCP"}


def sampled(units, **columns):
    """Returns a record in which each row of a library has these samples."""
    series = Series("x")
    series.units = units
    series.values = {key: dict.fromkeys(units, values) for key, values in columns.items()}
    return Record(series, name="x", group="network", libraries={key: TITLES.get(key, key) for key in columns},
                  first=next(iter(columns)))


def summarised(record):
    """Returns the same record with summaries instead of samples."""
    summaries = {key: {row: standing.figures(record, key, row) for row in record.series.units}
                 for key in record.libraries}
    series = Series("x")
    series.units = record.series.units
    return Record(series, name="x", group="network", libraries=record.libraries, first=record.first,
                  summaries=summaries)


@pytest.mark.parametrize("kept", [lambda record: record, summarised])
@pytest.mark.parametrize(("unit", "gain"), [("us", 2), ("GB/s", 0.5), ("B", 2)])
def test_a_gain_compares_with_the_best_other_library(kept, unit, gain):
    best, worst = ([20, 20, 20], [50, 50, 50]) if gain > 1 else ([20, 20, 20], [5, 5, 5])
    record = kept(sampled({8: unit}, lanyard=[10, 10, 10], mpich=best, openmpi=worst, tcp=[1, 1, 1]))
    assert standing.gain(record, 8) == Ratio(gain, gain, gain)
    assert standing.outcome(record, 8) == (1 if gain > 1 else -1)


def test_a_standing_counts_rows_and_has_the_geometric_mean():
    record = sampled({}, lanyard=[], mpich=[])
    record.series.units = {8: "us", 64: "us", 1024: "us", "share": "%"}
    record.series.values = {"lanyard": {8: [1], 64: [8], 1024: [2], "share": [1]},
                            "mpich": {8: [4], 64: [4], 1024: [2], "share": [2]}}
    found = standing.standing(record)
    assert (found.won, found.lost, found.level) == (1, 1, 1)
    assert found.mean == pytest.approx((4 * 0.5 * 1) ** (1 / 3))
    assert found.best == (8, 4) and found.worst == (64, 0.5)


@pytest.mark.parametrize(("row", "unit", "sign"), [
    (8, "us", -1), (8, "M/s", 1), ("memory", "B", -1), (("send overlap", 8), "%", 1),
    (("send wait share", 8), "%", -1), ("passed", "tests", 1), ("failed", "tests", -1),
    ("packets", "packets", 0),
])
def test_more_or_less_is_better(row, unit, sign):
    assert standing.direction(row, unit) == sign


def test_figures_without_ratios_are_won_by_their_medians():
    record = sampled({"all ranks wait": "%"}, lanyard=[0, 0], mpich=[199, 198])
    found = standing.standing(record)
    assert (found.won, found.lost, found.mean, found.best) == (1, 0, None, None)


def test_a_library_that_left_the_path_is_no_rival():
    record = sampled({8: "us"}, lanyard=[10], mpich=[5], openmpi=[20])
    record.series.counted = {"mpich": [(1, 100)]}
    assert standing.rivals(record) == ["openmpi"]
    record = summarised(record)
    record.counted_per_sent = {"mpich": 0.49, "openmpi": 1.01}
    assert standing.rivals(record) == ["openmpi"]


def test_other_paths_are_rivals_where_there_is_no_other_library():
    record = sampled({8: "us"}, lanyard=[1], **{"lanyard-tcp": [2], "udp": [0.5]})
    assert standing.rivals(record) == ["lanyard-tcp"] and standing.standing(record).won == 1


def test_settings_have_speeds_and_no_standing():
    record = sampled({8: "us", 64: "us"}, **{"checksum=off": [2], "checksum=on": [4], "tcp": [1]})
    assert standing.standing(record) is None
    assert standing.speeds(record) == {"checksum=on": 0.5}


def test_a_gain_that_is_in_the_file_counts():
    libraries = {"lanyard": "Lanyard", "mpich": "MPICH"}
    record = Record(Series("x"), name="x", group="network", libraries=libraries, first="lanyard",
                    gains={8: Ratio(1.2, 1, 1.4)},
                    summaries={"lanyard": {8: Summary(2)}, "mpich": {8: Summary(1)}})
    record.series.units = {8: "us"}
    assert standing.standing(record).won == 1


def test_series_that_try_the_same_settings_share_a_line():
    def sweep(name, ranks, time):
        record = sampled({8: "us"}, **{"progress=caller": [10], "progress=helper": [time]})
        record.libraries = {key: f"Lanyard, {key.replace('=', ' ')}" for key in record.libraries}
        record.name, record.ranks, record.group = name, ranks, "applications"
        return record
    alone = sampled({8: "us"}, lanyard=[10], mpich=[20])
    lines = page_tables.series_table([sweep("a-2", 2, 20), sweep("a-4", 4, 5), alone])[2:]
    assert lines[0].startswith("| [a-2](results/a-2.json), [a-4](results/a-4.json) | 2, 4 | ")
    assert "progress helper: 0.5, 2 |" in lines[0]
    assert lines[1].startswith("| [x](results/x.json) | ") and len(lines) == 2
