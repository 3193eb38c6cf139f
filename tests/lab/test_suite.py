"""Runs programs of tests/mpi, which check themselves, with their ranks on two hosts.

If LANYARD_TEST_ALL is set, all programs run with 2, 3 and 4 ranks. Otherwise only a few programs run.
`tests/mpi4py/run --lab` runs mpi4py's tests on two hosts.
"""
import json
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "tools")]
import junit  # noqa: E402
from lab import Lab  # noqa: E402

BUILD = pathlib.Path(os.environ.get("LANYARD_BUILD", HERE.parents[1] / "build" / "release"))
LONG = "LANYARD_TEST_ALL" in os.environ
FEW = [("coll-moves", 3), ("coll-moves", 4), ("coll-reductions", 4), ("coll-nonblocking", 4),
       ("comm-create", 4), ("pt2pt-sendrecv", 2), ("topology", 4)]
# The first ends with an error on purpose; the second is for a single rank.
LEFT_OUT = ("comm-fatal", "pt2pt-status")


def programs():
    """(name, ranks, words, environment) of each program to run.

    These are the tests of ctest with the label mpi, with their words and environment.
    """
    found = {}
    for _, command, properties in junit.ctest_tests(BUILD) if BUILD.is_dir() else ():
        name = os.path.basename(command[3]) if "mpi" in properties.get("LABELS", ()) else ""
        if name.startswith("mpi-"):
            found.setdefault(name.removeprefix("mpi-"), (command[4:], properties.get("ENVIRONMENT", [])))
    every = [(name, ranks, *found[name]) for name in sorted(found) if name not in LEFT_OUT
             for ranks in (2, 3, 4)]
    return every if LONG else [chosen for chosen in every if chosen[:2] in FEW]


@pytest.fixture(scope="module")
def hosts(possible):
    with Lab(hosts=2) as made:
        yield made


def test_profile_of_several_hosts(hosts, tmp_path):
    """Rank 0 must collect the profiles of the ranks on the other host, and the table must show both hosts."""
    tmp_path.chmod(0o777)
    command = ["env", "-u", "LANYARD_LAB", "-C", tmp_path, BUILD / "bin" / "mpirun", "--ssh", HERE / "ssh",
               "--host", "h1:2,h2:1", "-n", "3", "--profile",
               BUILD / "libexec" / "lanyard" / "bench-applications", "--parts", "halo", "--class", "S",
               "--blocks", "1"]
    done = hosts.run("h1", command, stdin=subprocess.DEVNULL, timeout=180)
    assert done.returncode == 0, done.stderr
    words = [line.split() for line in done.stderr.splitlines()]
    assert ["host", "ranks", "outside", "MPI,", "a", "rank", "in", "MPI,", "a", "rank", "sent,", "a",
            "rank"] in words, done.stderr
    assert (sorted(line[:2] for line in words if line and line[0] in ("h1", "h2"))
            == [["h1", "2"], ["h2", "1"]]), done.stderr
    assert ({line[0] if line[0] != "path" else line[1] for line in words if "messages" in line}
            >= {"shm", "tcp"}), done.stderr
    [file] = tmp_path.glob("lanyard-profile-*.json")
    ranks = json.loads(file.read_text())["ranks"]
    assert [(rank["rank"], rank["host"]) for rank in ranks] == [(0, "h1"), (1, "h1"), (2, "h2")]


@pytest.mark.parametrize(("name", "ranks", "words", "environment"), [
    pytest.param(*each, id=f"{each[0]}-{each[1]}") for each in programs()])
def test_program_across_two_hosts(hosts, name, ranks, words, environment):
    # A process in a host finds its lab without LANYARD_LAB, which is no setting of Lanyard.
    values = ["LANYARD_TEST_SECONDS=3", *environment, *([] if LONG else ["LANYARD_TEST_FEW=1"])]
    command = ["env", "-u", "LANYARD_LAB", *values, BUILD / "bin" / "mpirun", "--ssh", HERE / "ssh", "--host",
               "h1,h2", "--timeout", "120"]
    done = hosts.run("h1", [*command, "-n", ranks, BUILD / "tests" / f"mpi-{name}", *words],
                     stdin=subprocess.DEVNULL, timeout=180)
    assert done.returncode == 0, f"{done.stdout[-2000:]}{done.stderr[-4000:]}"
