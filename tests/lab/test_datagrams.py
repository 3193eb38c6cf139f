"""What goes wrong with datagrams between hosts: UDP that is closed, a way that swallows long packets, cables that are cut, processes that compute.
The same of connections, and what both share, is in test_failures.py."""
import pathlib
import re
import sys
import time

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from lab import Lab  # noqa: E402
from lab.jobs import Hosts  # noqa: E402

DGRAM = {"LANYARD_PATHS": "self,dgram"}


@pytest.fixture(scope="module")
def three_hosts(possible, tmp_path_factory):
    with Lab(hosts=3) as made:
        yield Hosts(made, tmp_path_factory.mktemp("datagrams"))


@pytest.fixture
def hosts(three_hosts):
    yield three_hosts
    three_hosts.expect_nothing_left()
    three_hosts.lab.set(cut=False, longest_udp=None)


def test_udp_that_is_closed_is_told_and_tcp_used_instead(hosts):
    """Between one host and the others; the two others could go on, but all of a job take the same way."""
    hosts.lab.set("h2", longest_udp=0)
    began = time.monotonic()
    code, out, err = hosts.run("--host", "h1:2,h2:2,h3", "-n", "5", "-x", "LANYARD_LOG=info,paths", hosts.program("exchange"), environment=DGRAM)
    assert (code, out) == (0, "right\n"), err
    told = re.findall(r"rank (\d+) \[paths\] no answer to datagrams of process 0 to process 2 for 3 s, between 10\.\d+\.0\.1:\d+ and 10\.\d+\.0\.2:\d+: UDP "
                      r"seems to be blocked there, by a firewall perhaps. TCP is used instead", err)
    assert told == ["0"], err
    assert err.count("UDP seems") == 1
    assert len(re.findall(r"tcp: ", err)) == 5 and "dgram: " not in err, err
    assert time.monotonic() - began < 5 + 3


def test_udp_that_is_open_is_used(hosts):
    code, out, err = hosts.run("--host", "h1:2,h2:2,h3", "-n", "5", "-x", "LANYARD_LOG=info,paths", hosts.program("exchange"), environment=DGRAM)
    assert (code, out) == (0, "right\n"), err
    assert err.count("dgram: ") == 5, err


def test_way_that_swallows_long_packets(hosts):
    """From one moment on, and nobody is told; the flow finds what passes, and has nearly the line's rate again."""
    hosts.lab.set(rate="100mbit")
    process = hosts.start("--host", "h1,h2", "-n", "2", hosts.program("steady"), "6", environment=DGRAM)
    try:
        before = [float(process.stdout.readline()) for _ in range(3)][-1]
        hosts.lab.set(longest_udp=1000)
        out, err = process.communicate(timeout=60)
    finally:
        hosts.lab.set(rate="none", longest_udp=None)
    after = [float(line) for line in out.split()]
    assert (process.returncode, err) == (0, "")
    assert min(after[-3:]) > 0.8 * before, (before, after)
