"""Tests hosts with several interfaces. Some are slow, some are dead, and one has the same address on two
hosts.

The tests verify which interface connects two processes, and what is reported about it.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from lab import Lab  # noqa: E402

BUILD = pathlib.Path(os.environ.get("LANYARD_BUILD", HERE.parents[1] / "build" / "release"))
MIB = 64
BYTES = MIB << 20
# Both rates are far below what a busy machine can reach, so that only the limits of the links matter.
# bench/run measures what the choice costs (part rails).
FAST_MBIT, SLOW_MBIT = 400, 40
# The kernel gives up an address that does not answer after two minutes. A job that ends sooner has not waited
# for the kernel.
SOON_MS = 30_000


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    made = tmp_path_factory.mktemp("addresses") / "bulk"
    subprocess.run([BUILD / "bin" / "mpicc", "-O2", "-o", made, HERE / "programs" / "bulk.c"], check=True)
    return made


@pytest.fixture
def trapped(possible):
    """Makes two hosts with a fast rail, a slow rail, a dead interface, and an interface that has the same
    address on both hosts."""
    with Lab(hosts=2, rails=2, rate=f"{FAST_MBIT}mbit") as lab:
        lab.twin(*lab.hosts)
        lab.dead(*lab.hosts)
        yield lab


def in_h1(lab, words, settings):
    # A process in a host finds its lab without LANYARD_LAB, which is no setting of Lanyard.
    unset = [f"--unset={name}" for name in {*os.environ, "LANYARD_LAB"} if name.startswith("LANYARD_")]
    values = [f"{name}={value}" for name, value in settings.items()]
    return lab.run("h1", ["env", *unset, *values, *words], timeout=60)


def mpirun(program, *words):
    return [BUILD / "bin" / "mpirun", "--ssh", HERE / "ssh", "--host", "h1,h2", "-n", "2", program, *words]


class Job:
    """The output of `bulk` in a job of two hosts, and how much each interface of h1 sent meanwhile."""

    def __init__(self, lab, program, rounds=1, **settings):
        before = lab.counters("h1")
        done = in_h1(lab, mpirun(program, MIB, rounds), {"LANYARD_LOG": "info,tcp", **settings})
        assert done.returncode == 0, done
        after = lab.counters("h1")
        self.sent = {name: after[name]["sent_bytes"] - before[name]["sent_bytes"] for name in after}
        self.first_ms = float(re.search(r"first ([\d.]+) ms", done.stdout)[1])
        self.rates = [float(rate) for rate in re.findall(r"bulk ([\d.]+) MB/s", done.stdout)]
        self.log = done.stderr
        [self.line] = re.findall(r"peer 1: (by .*)", self.log) or [""]
        print(self.first_ms, self.rates, self.sent, self.line)


@pytest.mark.parametrize("slow", [1, 2])
def test_bulk_goes_by_the_fast_interface_whatever_else_there_is(trapped, program, slow):
    fast = 3 - slow
    trapped.set(rail=slow, rate=f"{SLOW_MBIT}mbit")
    job = Job(trapped, program)
    assert job.first_ms < SOON_MS
    assert job.sent[f"rail{fast}"] > 0.85 * BYTES, job.sent
    assert job.sent[f"rail{slow}"] < 0.15 * BYTES, job.sent
    assert job.sent["dead0"] < 10_000 and job.sent["docker0"] < 10_000, job.sent
    addresses = trapped.address("h2", fast), trapped.address("h2", slow)
    told = re.match(rf"by {addresses[0]} \(rail{fast}, ([\d.]+) MB/s\); (.*)$", job.line)
    assert told, job.log
    others = told[2]
    found = re.search(rf"{addresses[1]} \(rail{slow}\) gave ([\d.]+) MB/s", others)
    assert found, others
    assert float(told[1]) > float(found[1]) > 0
    assert re.search(r"172\.17\.0\.1( \(docker0\))? (did not answer: Connection refused|does not belong to "
                     "the job)", others), others
    assert re.search(rf"10\.{trapped.first_octet}\.0\.2 (did not answer|has not answered yet)",
                     others), others


@pytest.mark.parametrize("order", ["", "dead0,docker0,rail1,rail2", "docker0, dead0, rail2"])
def test_datagrams_go_by_an_interface_that_leads_there(trapped, program, order):
    """The speed of networks is not measured for datagrams. If several networks look equal, the first that
    answers must be used."""
    job = Job(trapped, program, LANYARD_PATHS="self,dgram", LANYARD_LOG="info,paths",
              LANYARD_INTERFACES=order)
    assert "UDP seems" not in job.log and job.log.count("dgram: UDP at ") == 2, job.log
    assert job.first_ms < SOON_MS
    assert (job.sent["rail1"] + job.sent["rail2"] > BYTES and job.sent["dead0"] < 100_000
            and job.sent["docker0"] < 10_000), job.sent


def test_loopback_alone_leads_to_no_other_host(trapped, program):
    begun = time.monotonic()
    done = in_h1(trapped, mpirun(program, 1, 1), {"LANYARD_INTERFACES": "127.0.0.0/8"})
    assert done.returncode != 0 and (time.monotonic() - begun) * 1000 < SOON_MS
    assert ("LANYARD_INTERFACES=127.0.0.0/8 leaves only loopback here: name an interface that they "
            "reach") in done.stderr


def test_an_interface_that_leads_nowhere_is_told_of_soon(trapped, program):
    done = in_h1(trapped, mpirun(program, 1, 1),
                 {"LANYARD_INTERFACES": "docker0", "LANYARD_PEER_TIMEOUT": "7"})
    assert done.returncode != 0
    hint = "LANYARD_INTERFACES says by which interfaces it may be reached"
    assert re.search(r"process \d cannot be reached so far \(172.17.0.1:\d+: .*\); it is tried until 7 s "
                     rf"are over \(LANYARD_PEER_TIMEOUT\); {hint}",
                     done.stderr), done.stderr
    assert re.search(r"process \d cannot be reached since 7 s \(LANYARD_PEER_TIMEOUT\); the last attempt: "
                     f".*; {hint}", done.stderr), done.stderr


def test_what_is_published_is_shown(trapped):
    def shown(**settings):
        done = in_h1(trapped, [BUILD / "bin" / "lanyard", "info", "--paths", "--json"], settings)
        [tcp] = [path for path in json.loads(done.stdout) if path["name"] == "tcp"]
        return {(each["interface"], each["address"]): each for each in tcp["addresses"]}
    subprocess.run(["ip", "-n", trapped.namespace("h1"), "link", "set", "docker-peer", "down"], check=True)
    rail1, rail2, docker = (("rail1", trapped.address("h1", 1)), ("rail2", trapped.address("h1", 2)),
                            ("docker0", "172.17.0.1"))
    end = time.monotonic() + 60
    # The kernel reports a lost carrier with a delay.
    while (every := shown())[docker]["published"] and time.monotonic() < end:
        time.sleep(0.1)
    assert ({key for key, each in every.items() if each["published"]}
            == {rail1, rail2, ("dead0", f"10.{trapped.first_octet}.0.1")})
    assert every["lo", "127.0.0.1"]["why"] == "loopback leads to no other host"
    assert ((every[docker]["state"], every[docker]["why"])
            == ("no carrier", "it has no carrier: nothing is connected to it"))
    assert every[rail1]["state"] == "up" and every[rail1]["speed_mbit"] > 0 and every[rail1]["why"] == ""
    some = shown(LANYARD_INTERFACES="rail2")
    assert {key for key, each in some.items() if each["published"]} == {rail2}
    assert some[rail1]["why"] == "LANYARD_INTERFACES does not name it"
    text = in_h1(trapped, [BUILD / "bin" / "lanyard", "info", "--paths"], {}).stdout
    assert re.search(rf"^ +{rail1[1]} \(rail1\), up, \d+ Mbit/s; published to other hosts$", text, re.M), text
    assert "172.17.0.1 (docker0), no carrier" in text
