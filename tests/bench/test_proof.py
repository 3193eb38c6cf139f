"""bench/proof.py: whether the route's interface saw what a run sent, and what the reports say where it did not."""
import pathlib
import sys

import pytest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import goals  # noqa: E402
import measure  # noqa: E402
import peers  # noqa: E402
import proof  # noqa: E402
import report  # noqa: E402
import routes  # noqa: E402

TEN = ["--blocks", "10"]


def library(key):
    return peers.Library(key, key.title(), pathlib.Path("/"), pathlib.Path("/none"), lambda ranks: ["launch"], {})


@pytest.mark.parametrize(("program", "rows", "sent"), [
    ("latency", {8: (10.0, "us"), 1000: (100.0, "us")}, 0.1 / 10e-6 * 8 + 0.1 / 100e-6 * 1000),
    ("latency", {("beside 16777216", 8): (10.0, "us")}, 0),
    ("bandwidth", {65536: (2.0, "GB/s")}, 0.1 * 2e9),
    ("unidirectional", {("expected", 8): (1.0, "GB/s"), ("expected, sender's processor", 8): (50.0, "%")}, 0.1 * 1e9),
    ("allreduce", {8: (20.0, "us")}, 0.1 / 20e-6 * 8 * 14),
    ("overlap", {("receive alone", 16384): (100.0, "us"), ("receive work alone", 16384): (120.0, "us"), ("receive wait", 16384): (0.0, "us")},
     10 * 16384),
    ("probe", {"found": (2.0, "us")}, 0),
])
def test_what_a_run_sent_is_told_by_what_it_reports(program, rows, sent):
    assert proof.sent_bytes(program, 8, TEN, rows) == pytest.approx(sent)


def test_the_programs_defaults_are_used_where_nothing_is_said():
    assert proof.sent_bytes("bandwidth", 2, ["--blocks", "5", "--block-seconds", "0.05"], {8: (1.0, "GB/s")}) == pytest.approx(0.25e9)
    assert proof.sent_bytes("bandwidth", 2, [], {8: (1.0, "GB/s")}) == pytest.approx(0.2e9)


def series_over_tcp():
    """Three rounds of 1000 bytes, of which an interface sees all of Lanyard's and MPICH's and hardly any of Intel's."""
    libraries = {key: library(key) for key in ("lanyard", "mpich", "openmpi", "impi")}
    position = 0
    for one in libraries.values():
        one.counted = lambda: position

    def run(one):
        nonlocal position
        position += 10 if one.key in ("impi", "openmpi") else 1100
        return "v", {8: ({"lanyard": 6.0, "mpich": 20.0, "openmpi": 1.0, "impi": 1.0}[one.key], "us")}

    return measure.alternate("x", libraries, 3, run, quiet_seconds=0, sent=lambda rows: 1000), libraries


def test_a_library_that_the_interface_did_not_see_is_marked_and_bounds_nothing():
    series, libraries = series_over_tcp()
    assert series.counted["lanyard"] == [(1100, 1000)] * 3
    assert [key for key in libraries if series.off_path(key)] == ["openmpi", "impi"]
    text = report.markdown(series, libraries)
    assert "| 8 B | Impi (not on this path) | 1 (1 to 1)" in text and "| 8 B | Mpich | 20" in text
    assert "Bytes on the interface for each byte sent: Lanyard 1.1, Mpich 1.1, Openmpi (not on this path) 0.01" in text
    table = goals.table({"tcp-allreduce": series}, libraries)
    assert "| 10 us | Mpich 20, Openmpi (not on this path) 1, Impi (not on this path) 1 | kept |" in table


def test_a_goal_is_not_kept_on_another_path():
    series, libraries = series_over_tcp()
    series.counted["lanyard"] = [(0, 1000)]
    assert "| not on this path |" in goals.table({"tcp-allreduce": series}, libraries)


def test_without_a_route_nothing_is_counted():
    one = library("lanyard")
    series = measure.alternate("x", {"lanyard": one}, 1, lambda _: ("v", {8: (1.0, "us")}), quiet_seconds=0, sent=lambda rows: 1000)
    assert series.counted == {} and not series.off_path("lanyard")
    assert "interface" not in report.markdown(series, {"lanyard": one})


def test_every_library_of_a_route_is_counted_also_in_a_sweep():
    with routes.routed({"lanyard": library("lanyard")}, "tcp", "latency", [], "progress=caller") as moved:
        assert list(moved) == ["progress=caller", "tcp"]
        assert all(one.counted() >= 0 for one in moved.values())
