"""Tests bench/proof.py: whether the route's interface counted the bytes that a run sent, and the reports if
it did not."""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import goals  # noqa: E402
import measure  # noqa: E402
import peers  # noqa: E402
import proof  # noqa: E402
import tables  # noqa: E402
import routes  # noqa: E402


def library(key):
    return peers.Library(key, key.title(), pathlib.Path("/"), pathlib.Path("/none"),
                         lambda ranks: ["launch"], {})


def rows_of(value, sent):
    output = f'{{"sent_bytes": {sent}, "results": [{{"bytes": 8, "median": {value}, "unit": "us"}}]}}'
    return measure.read_json(output)[1]


def test_a_program_says_what_it_sent_or_nothing():
    assert rows_of(1.0, 1000.0).sent_bytes == 1000
    assert measure.read_json('{"results": []}')[1].sent_bytes == 0


def series_over_tcp():
    """Returns a series of three rounds of 1000 bytes.

    The interface counts all bytes of Lanyard and MPICH, and hardly any bytes of Open MPI and Intel MPI.
    """
    libraries = {key: library(key) for key in ("lanyard", "mpich", "openmpi", "impi")}
    position = 0
    for one in libraries.values():
        one.counted = lambda: position

    def run(one):
        nonlocal position
        position += 10 if one.key in ("impi", "openmpi") else 1100
        return "v", rows_of({"lanyard": 6.0, "mpich": 20.0, "openmpi": 1.0, "impi": 1.0}[one.key], 1000)

    return measure.alternate("x", libraries, 3, run, quiet_seconds=0), libraries


def test_a_library_that_the_interface_did_not_see_is_marked_and_bounds_nothing():
    series, libraries = series_over_tcp()
    assert series.counted["lanyard"] == [(1100, 1000)] * 3
    assert [key for key in libraries if series.off_path(key)] == ["openmpi", "impi"]
    text = tables.markdown(series, libraries)
    assert "| 8 B | Impi (not on this path) | 1 (1 to 1)" in text and "| 8 B | Mpich | 20" in text
    assert ("Bytes on the interface for each byte sent: Lanyard 1.1, Mpich 1.1, Openmpi (not on this path) "
            "0.01") in text
    table = goals.table({"tcp-allreduce": series}, libraries)
    assert "| 10 us | Mpich 20, Openmpi (not on this path) 1, Impi (not on this path) 1 | kept |" in table


def test_a_goal_is_not_kept_on_another_path():
    series, libraries = series_over_tcp()
    series.counted["lanyard"] = [(0, 1000)]
    assert "| not on this path |" in goals.table({"tcp-allreduce": series}, libraries)


def test_without_a_route_nothing_is_counted():
    one = library("lanyard")
    series = measure.alternate("x", {"lanyard": one}, 1, lambda _: ("v", rows_of(1.0, 1000)), quiet_seconds=0)
    assert series.counted == {} and not series.off_path("lanyard")
    assert "interface" not in tables.markdown(series, {"lanyard": one})


def test_every_library_of_a_route_is_counted_also_in_a_sweep():
    with routes.routed({"lanyard": library("lanyard")}, "tcp", "latency", [], "progress=caller") as moved:
        assert list(moved) == ["progress=caller", "tcp"]
        assert all(one.counted() >= 0 for one in moved.values())
