"""Tests bench/compare with real jobs of the build named by LANYARD_BUILD: over TCP, over a lab's link, and
with several values of a setting."""
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
sys.path.insert(0, str(ROOT / "bench"))
import peers  # noqa: E402
import routes  # noqa: E402
import series_file  # noqa: E402
from lab import missing  # noqa: E402

BUILD = pathlib.Path(os.environ.get("LANYARD_BUILD", "build/release")).absolute()


def compare(folder, *words):
    """Returns the series of one short round of Lanyard, read from the file that bench/compare writes."""
    end = words.index("--") if "--" in words else len(words)
    command = [sys.executable, ROOT / "bench" / "compare", *words[:end], "--libraries", "lanyard", "--rounds",
               "1", "--patience", "0",
               "--blocks", "2", "--prefix", BUILD, "--cache", folder / "cache", "--out", folder / "out",
               *words[end:]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    (file,) = (folder / "out").glob("*.json")
    return series_file.read(file).series


def rows_of(series):
    return {key: set(rows) for key, rows in series.values.items()}


@pytest.mark.thorough
def test_raw_tcp_runs_beside_over_tcp(tmp_path):
    series = compare(tmp_path, "latency", "--route", "tcp", "--sizes", "8,1k")
    assert rows_of(series) == {"lanyard": {8, 1024}, "tcp": {8, 1024}}


@pytest.mark.thorough
def test_words_for_the_program_are_handed_on(tmp_path):
    series = compare(tmp_path, "latency", "--route", "tcp", "--sizes", "8", "--", "--beside", "1M")
    assert rows_of(series) == {"lanyard": {("beside 1048576", 8), ("beside 1048576, its rate", 8)}}


@pytest.mark.thorough
def test_a_setting_is_swept(tmp_path):
    series = compare(tmp_path, "latency", "--sweep", "eager-limit=0,4096", "--sizes", "8")
    assert set(series.values) == {"eager-limit=0", "eager-limit=4096"}


def test_values_of_a_sweep_are_those_of_lanyard_bench():
    lanyard = peers.Library("lanyard", "Lanyard", BUILD, BUILD / "libexec" / "lanyard", None, {})
    assert list(routes.swept(lanyard, "progress")) == ["progress=caller", "progress=auto", "progress=helper"]
    match = ("which values of .latency.* without values there are eager-limit, progress, dgram-progress, "
             "connect, checksum")
    with pytest.raises(peers.Unavailable, match=match):
        routes.swept(lanyard, "latency")


@pytest.mark.thorough
def test_loopback_has_the_mtu_that_the_route_names(tmp_path):
    if reason := missing():
        pytest.skip(reason)
    with routes.routed({"lanyard": peers.lanyard(BUILD)}, "tcp-1500", "latency", []) as moved:
        enter = moved["lanyard"].launcher(2)[:-3]
        assert "mtu 1500" in subprocess.run([*enter, "ip", "link", "show", "lo"], capture_output=True,
                                            text=True, check=True).stdout
    series = compare(tmp_path, "bandwidth", "--route", "tcp-1500", "--sizes", "64k")
    assert rows_of(series) == {"lanyard": {65536}, "tcp": {65536}}


def test_the_interface_proves_the_path(tmp_path):
    proofs = compare(tmp_path, "bandwidth", "--route", "tcp", "--sizes", "64k").counted
    assert set(proofs) == {"lanyard", "tcp"}
    assert all(counted > sent / 2 for rounds in proofs.values() for counted, sent in rounds)


def test_both_run_across_a_link(tmp_path):
    if reason := missing():
        pytest.skip(reason)
    tried = []
    for attempt in range(3):  # the machine may be busy
        values = compare(tmp_path / str(attempt), "bandwidth", "--route", "100mbit", "--sizes", "64k",
                         "--window", "8").values
        assert set(values) == {"lanyard", "tcp"}
        tried.append({key: rows[65536][0] for key, rows in values.items()})
        if all(0.005 < rate < 0.02 for rate in tried[-1].values()):
            return
    assert False, tried
