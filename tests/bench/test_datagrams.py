"""Tests the group `datagrams` of bench/run: its routes and its goals.

Also tests how the group evaluates runs at several losses, shares of a line, and profiles.
"""
import json
import os
import pathlib
import sys

import pytest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
sys.path.insert(0, str(ROOT / "tests"))
import goals  # noqa: E402
import measure  # noqa: E402
import parts  # noqa: E402
import peers  # noqa: E402
import plots  # noqa: E402
import routes  # noqa: E402
import tables  # noqa: E402
from lab import missing  # noqa: E402
from measure import Loss  # noqa: E402

BUILD = pathlib.Path(os.environ.get("LANYARD_BUILD", "build/release")).absolute()


def shell_library(key, script=""):
    return peers.Library(key, key.title(), pathlib.Path("/"), pathlib.Path("/none"),
                         lambda ranks: ["/bin/sh", "-c", script], {})


def judge(part, series):
    return [goal.judge(series, {})[3] for goal in goals.DATAGRAM_GOALS if goal.part == part]


def series_of(values, rounds=3):
    """Returns a series of {library's key: {row: (value, unit)}} that is the same in each round."""
    series = measure.Series("x")
    for number in range(rounds):
        for key, rows in values.items():
            series.add(shell_library(key), number, "1", rows)
    return series


def test_the_group_takes_less_than_half_an_hour_and_has_every_goal():
    group = [part for part in parts.DATAGRAMS if part.name in parts.GROUPS["datagrams"]]
    assert [part.name for part in group] == parts.GROUPS["datagrams"]
    assert sum(part.seconds for part in group) < 1800
    assert {goal.part for goal in goals.DATAGRAM_GOALS} <= {part.name for part in group}
    assert not set(parts.GROUPS["datagrams"]) & set(parts.NAMES + parts.NETWORK_NAMES)


@pytest.mark.parametrize(("route", "parts"), [
    (None, (False, "")), ("tcp", (False, "")), ("tcp-1500", (False, "1500")), ("10gbit", (False, "10gbit")),
    ("dgram", (True, "")),
    ("dgram-9000", (True, "9000")), ("dgram-1gbit", (True, "1gbit")), ("dgram-lossy", (True, "lossy")),
    ("switch", (False, "switch")),
])
def test_a_route_says_whether_lanyard_takes_datagrams_and_where(route, parts):
    assert routes.split(route) == parts


def test_lanyard_is_on_datagrams_and_on_tcp_and_the_others_on_tcp():
    libraries = {key: shell_library(key) for key in peers.ALL}
    moved = routes.over_loopback(libraries, "latency", [], datagrams=True)
    assert list(moved) == ["lanyard", "lanyard-tcp", "mpich", "impi", "openmpi", "tcp", "udp"]
    assert [moved[key].environment["LANYARD_PATHS"]
            for key in ("lanyard", "lanyard-tcp")] == ["self,dgram", "self,tcp"]
    assert (moved["lanyard-tcp"].key, moved["lanyard-tcp"].title) == ("lanyard-tcp", "Lanyard, TCP")
    assert moved["udp"].command(2, "latency", ["--pin"]) == ["/none/bench-udp", "latency", "--pin"]
    for program, words, raw in (("rate", [], set()), ("bandwidth", [], {"tcp"}),
                                ("latency", ["--percentile", "99"], set())):
        assert {"tcp", "udp"} & set(routes.over_loopback(libraries, program, words, datagrams=True)) == raw


def test_a_sweep_on_datagrams_has_tcp_beside():
    with routes.routed({"lanyard": shell_library("lanyard")}, "dgram", "applications", [],
                       "dgram-progress=engine,thread") as moved:
        assert list(moved) == ["dgram-progress=engine", "dgram-progress=thread", "lanyard-tcp"]
        assert moved["dgram-progress=thread"].environment == {"LANYARD_PATHS": "self,dgram",
                                                              "LANYARD_DGRAM_PROGRESS": "thread"}


def test_ranks_are_spread_over_all_hosts_of_a_lab():
    lanyard = shell_library("lanyard")
    hosts = [f"h{number}" for number in range(1, 9)]
    assert ",".join(f"{host}:1" for host in hosts) in routes.lab_launcher(lanyard, 8, hosts)
    assert "h1:2,h2:2" in routes.lab_launcher(lanyard, 4)
    assert "h1,h2,h3" in routes.lab_launcher(shell_library("mpich"), 3, hosts[:3])


ROW = ("""echo '{"library": "L 1", "sent_bytes": 10, "results": """
       """[{"bytes": 1048576, "median": 2, "unit": "GB/s"}]}'""")


def test_a_run_at_losses_has_a_row_for_each():
    library, set_to = shell_library("lanyard", ROW), []
    library.lose = set_to.append
    version, rows = measure.run_at_losses(library, (0, 0.1, 5),
                                          lambda: measure.run_json(library, 2, "bandwidth"))
    assert version == "L 1" and set_to == [0, 0.1, 5] and rows.sent_bytes == 30
    assert rows == {("1 MiB", loss): (2, "GB/s") for loss in (0, 0.1, 5)}
    assert [tables.size_name(row) for row in rows] == ["1 MiB, loss 0 %", "1 MiB, loss 0.1 %",
                                                       "1 MiB, loss 5 %"]


def test_a_profile_stands_beside_the_rows_as_a_sum_of_ranks():
    counts = {"packets": 7, "given up by order": 1, "given up by time": 0, "given up by probe": 2,
              "missing": 3}
    profile = json.dumps({"ranks": [{"datagrams": counts}, {"datagrams": counts}, {}]})
    library = shell_library("lanyard", f"echo '{profile}' >lanyard-profile-$LANYARD_PROFILE.json; {ROW}")
    _, rows = measure.run_profiled(library, 2, "bandwidth")
    assert rows == {1 << 20: (2, "GB/s"), "packets": (14, "packets"), "given up by order": (2, "packets"),
                    "given up by time": (0, "packets"),
                    "given up by probe": (4, "packets"), "missing": (6, "packets")}


def test_shares_are_of_the_bytes_that_a_line_could_carry():
    rows = measure.Rows({8192: (0.1, "GB/s")})
    measure.add_shares_of_line(rows, 2)
    assert rows["share of the line", 8192] == (pytest.approx(80), "%")
    rows = measure.Rows({("gather", 1000): (112.0, "us"), "packets": (3, "packets")})
    measure.add_shares_of_line(rows, 8)
    assert len(rows) == 3
    assert rows["gather, share of the line", 1000] == (pytest.approx(50), "%")


def test_bandwidth_over_loss_is_a_curve_and_its_goals_are_judged(tmp_path):
    pytest.importorskip("matplotlib")
    speeds = {"lanyard": (0.11, 0.109, 0.1, 0.08), "lanyard-cubic": (0.115, 0.1, 0.03, 0.005),
              "lanyard-bbr": (0.115, 0.11, 0.1, 0.08)}
    series = series_of(
        {key: {("1 MiB", Loss(loss)): (speed, "GB/s") for loss, speed in zip((0, 0.1, 1, 5), speed_at)}
         for key, speed_at in speeds.items()})
    (panel,) = plots.panels(series, {key: shell_library(key) for key in speeds})
    assert [x for x, _ in panel.curves["lanyard-bbr"]] == [0, 0.1, 1, 5]
    plots.plot(series, {key: shell_library(key) for key in speeds}, tmp_path / "x.svg")
    assert "packets lost" in (tmp_path / "x.svg").read_text()
    assert judge("dgram-loss", series) == ["kept", "kept", "missed", "kept", "missed"]


def test_the_other_goals_are_judged():
    latency = series_of({"lanyard": {8: (6.0, "us"), 64: (99.0, "us")},
                         "lanyard-tcp": {8: (7.0, "us"), 64: (1.0, "us")}, "udp": {8: (5.0, "us")}})
    assert judge("dgram-latency", latency) == ["kept", "kept"]
    assert judge("dgram-loss-latency",
                 series_of({"lanyard": {("percentile 99, 1 KiB", Loss(1)): (5100, "us")}})) == ["missed"]
    shares = {("gather", 65536): (4000, "us"), ("gather, share of the line", 65536): (90, "%"),
              ("alltoall, share of the line", 65536): (80, "%"),
              "packets": (1e4, "packets"), "given up by probe": (0, "packets")}
    assert judge("dgram-switch", series_of({"lanyard": shares})) == ["kept", "missed", "kept"]
    assert judge("dgram-bandwidth",
                 series_of({"lanyard": {4096: (0.01, "GB/s"), 8192: (0.112, "GB/s"),
                                        ("share of the line", 8192): (90, "%")},
                            "tcp": {4096: (0.1, "GB/s"), 8192: (0.115, "GB/s")}})) == ["kept", "missed"]
    peers_of = {"lanyard": {256: (2, "M/s"), ("resident, busy", 256): (1e5, "B"),
                            ("resident, quiet", 256): (1e5, "B")},
                "lanyard-tcp": {256: (1, "M/s"), ("resident, busy", 256): (5e5, "B"),
                                ("resident, quiet", 256): (3e5, "B")}}
    assert judge("dgram-peers", series_of(peers_of)) == ["kept", "missed"]


def test_memory_is_measured_without_mpirun(tmp_path, monkeypatch):
    monkeypatch.setattr(measure, "version", lambda library: "L 1")
    (tmp_path / "bench-memory").write_text("""#!/bin/sh
echo '{"results": [{"name": "dgram, talked to of 16384", "median": 400, "unit": "B"},
                   {"name": "dgram, talked to, allocated", "median": 460, "unit": "B"},
                   {"name": "dgram, all of 16384", "median": 17e6, "unit": "B"}], "words": "'$*'"}'""")
    (tmp_path / "bench-memory").chmod(0o755)
    part, = (part for part in parts.DATAGRAMS if part.name == "dgram-memory")
    library = peers.Library("lanyard", "Lanyard", tmp_path, tmp_path, None, {})
    series = measure.alternate("x", {"lanyard": library}, 2, lambda one: part.measure_once(one, tmp_path),
                               quiet_seconds=0)
    assert series.failures == {} and judge("dgram-memory", series) == ["kept", "missed", "missed"]


def test_packets_are_lost_on_a_lossy_link_and_tcp_has_its_congestion_control():
    if reason := missing():
        pytest.skip(reason)
    with routes.routed({"lanyard": peers.lanyard(BUILD)}, "dgram-lossy", "bandwidth", []) as moved:
        assert list(moved) == ["lanyard", "lanyard-cubic", "lanyard-bbr"]
        never_came = {}
        for loss in (5, 0):
            moved["lanyard"].lose(loss)
            words = ["--sizes", "64k", "--window", "16", "--blocks", "2"]
            _, rows = measure.run_profiled(moved["lanyard"], 2, "bandwidth", words)
            assert rows["packets"][0] > 100
            never_came[loss] = rows["missing"][0] / rows["packets"][0]
        assert never_came[0] < 0.02 < never_came[5]  # packets are also lost when the link's queue overflows
        moved["lanyard-bbr"].prepare()
        enter = moved["lanyard"].launcher(2)[:-6]
        done = measure.run_command(moved["lanyard"],
                                   [*enter, "sysctl", "-n", "net.ipv4.tcp_congestion_control"])
        assert done.strip() == "bbr"
