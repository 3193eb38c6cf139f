"""Tests bench/endings.py and bench/rails.py on the build named by LANYARD_BUILD.

Every figure must be present, and failures must be reported.
"""
import os
import pathlib
import sys

import pytest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests")]
import endings  # noqa: E402
import goals  # noqa: E402
import measure  # noqa: E402
import peers  # noqa: E402
import rails  # noqa: E402
from lab import missing  # noqa: E402

BUILD = pathlib.Path(os.environ.get("LANYARD_BUILD", "build/release")).absolute()


@pytest.fixture
def library():
    return peers.lanyard(BUILD)


def judged(part, rows, libraries):
    """Returns the verdicts on a series of one round with these figures."""
    series = measure.Series(part)
    series.add(libraries["lanyard"], 0, "L 1", rows)
    return [goal.judge(series, libraries)[3] for goal in goals.GOALS if goal.part == part]


def test_every_ending_is_timed(library, monkeypatch):
    monkeypatch.setattr(endings, "MOMENTS", ("after-messages",))
    _, rows = endings.run_endings(library)
    assert list(rows) == [*(f"a rank dies, {way}" for way in endings.WAYS), "an agent dies", "a host refuses"]
    assert all(value > 0 and unit == "ms" for value, unit in rows.values())


def test_endings_are_judged_by_the_worst(library):
    for longest, verdict in ((1999, "kept"), (2001, "missed")):
        rows = {"a rank dies, TCP": (5.0, "ms"), "an agent dies": (float(longest), "ms")}
        assert judged("endings", rows, {"lanyard": library}) == [verdict]


def test_a_job_in_which_nobody_dies_gives_no_figure(library, monkeypatch):
    monkeypatch.setattr(endings, "compiled", lambda library, folder: "/bin/true")
    with pytest.raises(measure.Failed, match="nobody died before-any-contact: no words"):
        endings.run_endings(library)


def test_a_start_without_mpi_is_timed(library, monkeypatch):
    monkeypatch.setattr(measure, "version", lambda library: "L 1")
    [(name, (value, unit))] = measure.run_nothing(library, 3)[1].items()
    assert name == "startup of 3 processes without MPI" and value > 0 and unit == "ms"


@pytest.mark.skipif(bool(missing()), reason="there can be no lab")
def test_the_choice_of_an_interface_is_timed(library, monkeypatch):
    monkeypatch.setattr(rails, "MIB", 2)
    _, rows = rails.run_rails(library)
    assert ([unit for _, unit in rows.values()] == ["ms", "MB/s"] * 2 and
            all(value > 0 for value, _ in rows.values()))
    assert len(judged("rails", rows, {"lanyard": library})) == 2
