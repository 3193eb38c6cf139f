"""Tests MPI programs across hosts of the lab.

Messages must be right although connections are reset, bits are flipped, or a cable is cut for a while.
"""
import contextlib
import os
import pathlib
import subprocess
import sys
import time

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from lab import Lab, RelayProcess  # noqa: E402

BUILD = pathlib.Path(os.environ.get("LANYARD_BUILD", HERE.parents[1] / "build" / "release"))
MPIRUN = BUILD / "bin" / "mpirun"
LONG = "LANYARD_TEST_ALL" in os.environ


@pytest.fixture(scope="module")
def torture(tmp_path_factory):
    program = tmp_path_factory.mktemp("torture") / "torture"
    subprocess.run([BUILD / "bin" / "mpicxx", "-O2", "-o", program, HERE / "programs" / "torture.cc"],
                   check=True)
    return program


@pytest.fixture
def hosts(possible):
    """Makes two hosts with a rail so fast that resets occur while messages of all sizes are under way."""
    with Lab(hosts=2, rails=1, rate="1gbit") as made:
        yield made


def start(lab, program, seconds, *ranks, environment=None):
    command = [MPIRUN, "--ssh", HERE / "ssh", *(ranks or ("--host", "h1:2,h2:2", "-n", "4")), program,
               str(seconds)]
    variables = {**os.environ, "LANYARD_LAB": lab.name, **(environment or {})}
    return lab.popen("h1", [str(word) for word in command], env=variables, stdout=subprocess.PIPE,
                     stderr=subprocess.PIPE, text=True)


def ended_well(process, patience):
    out, err = process.communicate(timeout=patience)
    assert (process.returncode, err) == (0, ""), out
    assert out.endswith(" rounds\n")
    return int(out.split()[0])


def test_messages_survive_resets(hosts, torture):
    # `least` is the least number of resets; an idle machine reaches six times as many.
    seconds, least = (60, 30) if LONG else (4, 2)
    process = start(hosts, torture, seconds)
    resets = 0
    while process.poll() is None:
        resets += hosts.reset("h1")
        time.sleep(0.1)
    assert ended_well(process, 60) > 0
    assert resets >= least


def test_messages_survive_a_cut_cable(hosts, torture):
    """The cable is cut for a shorter time than LANYARD_PEER_TIMEOUT. The kernel does not notice the cut, and
    the host must not count as failed."""
    cut = 30 if LONG else 3
    process = start(hosts, torture, 3)
    time.sleep(1)
    hosts.cut("h2", 1)
    time.sleep(cut)
    hosts.heal("h2", 1)
    assert ended_well(process, 60) > 0


@contextlib.contextmanager
def relay_before(lab, host, port):
    """Inserts a relay, which runs in the host itself, into connections of other hosts to this port."""
    with RelayProcess(lab, host, (lab.address(host), port), (lab.address(host), port + 1000)) as relay:
        rule = f"iifname != lo tcp dport {port} redirect to :{port + 1000};"
        lab.run(host, [
            "nft", f"table ip relayed {{ chain in {{ type nat hook prerouting priority -100; {rule} }}; }}"],
            check=True)
        try:
            yield relay
        finally:
            lab.run(host, ["nft", "delete table ip relayed"], check=True)


def test_messages_survive_flipped_bits(hosts, torture):
    """Bits of the greetings are flipped too.

    Each flip ends its connection. A later connection gets as far as the next flip, which ends it again.
    """
    offsets = [40, 130, 250, 5000, *range(100_000, 3_000_000, 100_007)]
    with relay_before(hosts, "h1", 5000) as one, relay_before(hosts, "h2", 5000) as other:
        for at, offset in enumerate(offsets):
            for relay in (one, other):
                relay.flip("forward", offset, at % 8)
                relay.flip("backward", offset + 50_000, at % 8)
        settings = {"LANYARD_CHECKSUM": "on", "LANYARD_PORT_RANGE": "5000-5000", "LANYARD_LOG": "info,tcp"}
        process = start(hosts, torture, 4, "--host", "h1:1,h2:1", "-n", "2", environment=settings)
        out, err = process.communicate(timeout=60)
        flips = one.counts()["flips"] + other.counts()["flips"]
    assert process.returncode == 0 and out.endswith(" rounds\n"), out + err
    assert int(out.split()[0]) > 0
    damaged = err.count("what arrived was damaged on its way")
    assert 5 < damaged <= flips, (flips, err)  # several flips may be in one connection, or in greetings


def test_the_rail_carries_the_messages(hosts, torture):
    before = hosts.counters("h1")["rail1"]
    assert ended_well(start(hosts, torture, 1), 60) > 0
    after = hosts.counters("h1")["rail1"]
    assert min(after[f"{way}_bytes"] - before[f"{way}_bytes"] for way in ("received", "sent")) > 1_000_000
