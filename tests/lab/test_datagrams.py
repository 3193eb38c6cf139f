"""Tests failures of datagrams between hosts.

UDP is blocked, long packets disappear on the way, cables are cut, or processes compute. test_failures.py
tests connections, and failures that affect both in the same way.
"""
import os
import pathlib
import re
import sys
import time

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from lab import Lab  # noqa: E402
from lab.jobs import Hosts  # noqa: E402

LONG = "LANYARD_TEST_ALL" in os.environ
DGRAM = {"LANYARD_PATHS": "self,dgram"}
PROC_ABORTED = 58
PATIENCE_S = 30  # far above the time-outs set here, and below the default of LANYARD_PEER_TIMEOUT


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
    """UDP is blocked at one host. All ranks must use TCP: the two other hosts could use UDP, but the ranks of
    a job use the same path."""
    words = "--host", "h1:2,h2:2,h3", "-n", "5", "-x", "LANYARD_LOG=info,paths", hosts.program("exchange")
    hosts.lab.set("h2", longest_udp=0)
    code, out, err = hosts.run(*words, environment=DGRAM)
    assert (code, out) == (0, "right\n"), err
    told = re.findall(r"rank (\d+) \[paths\] no answer to datagrams of process 0 to process 2 for 3 s, "
                      r"between 10\.\d+\.0\.1:\d+ and 10\.\d+\.0\.2:\d+: UDP seems to be blocked there, by a "
                      "firewall perhaps. TCP is used instead", err)
    assert told == ["0"], err
    assert err.count("UDP seems") == 1
    assert len(re.findall(r"tcp: ", err)) == 5 and "dgram: " not in err, err


@pytest.mark.parametrize(("progress", "told"), [("auto", True), ("caller", False)])
def test_udp_that_is_closed_later_is_told_and_waited_for(hosts, progress, told):
    """UDP is blocked in the middle of a job. This may be reported only if each process has a thread that
    answers: otherwise a silent process may be computing."""
    values = {**DGRAM, "LANYARD_PEER_TIMEOUT": "2", "LANYARD_PROGRESS": progress}
    process = hosts.start("--host", "h1,h2", "-n", "2", hosts.program("silent"), "going-on", "2",
                          environment=values)
    assert process.stdout.readline() == "cut\n"
    hosts.lab.set(longest_udp=0)
    time.sleep(5)
    hosts.lab.set(longest_udp=None)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "right\n"), err
    lines = re.findall(r"lanyard rank (\d) \[dgram\] process (\d) has not answered for 2 s "
                       r"\(LANYARD_PEER_TIMEOUT\), between \S+ and \S+, but it lives: .* a "
                       r"firewall blocks UDP now; then leave dgram out of LANYARD_PATHS\n", err)
    assert (sorted(lines) == ([("0", "1"), ("1", "0")] if told else [])
            and len(err.splitlines()) == len(lines)), err


def test_different_means_are_not_taken_for_a_block(hosts):
    first, second = (("-n", "1", "-env", "LANYARD_DGRAM_IO", io, hosts.program("exchange"))
                     for io in ("udp", "libfabric:udp"))
    code, _, err = hosts.run("--host", "h1,h2", *first, ":", *second, environment=DGRAM)
    assert code not in (0, 134, 139)
    assert "set LANYARD_DGRAM_IO alike for all processes" in err and "UDP seems" not in err, err


def test_udp_that_is_open_is_used(hosts):
    code, out, err = hosts.run("--host", "h1:2,h2:2,h3", "-n", "5", "-x", "LANYARD_LOG=info,paths",
                               hosts.program("exchange"), environment=DGRAM)
    assert (code, out) == (0, "right\n"), err
    assert err.count("dgram: ") == 5, err


@pytest.mark.parametrize("path", ["tcp", "dgram"])
def test_hosts_of_one_kernel_share_its_processors(hosts, path):
    """Two hosts are like containers on one machine. Each has fewer ranks than there are processors, but both
    together have more."""
    processors = os.cpu_count()
    each = processors // 2 + 1
    settings = {"LANYARD_PATHS": f"self,{path}", "LANYARD_LOG": "info,engine"}
    for ranks, does in ((2, "a waiting rank polls for a moment"),
                        (2 * each, "a waiting rank yields its processor")):
        if ranks == 2 and processors == 1:
            continue
        slots = f"h1:{ranks // 2},h2:{ranks // 2}"
        code, out, err = hosts.run("--host", slots, "-n", str(ranks), hosts.program("exchange"),
                                   environment=settings)
        assert (code, out) == (0, "right\n"), err
        assert err.count(does) == ranks, err
    assert err.count(f"{ranks} ranks share {processors} processors") == ranks, err


def test_way_that_swallows_long_packets(hosts):
    """In the middle of a job, long packets begin to disappear without an error.

    The flow (the sender's state) must find the size that passes and report it at the end.
    tests/sim/flow_test.cc tests in virtual time that the flow then nearly reaches the line's rate again.
    """
    # Slow enough for a busy machine, because with this limit the kernel sends single frames.
    hosts.lab.set(rate="50mbit")
    process = hosts.start("--host", "h1,h2", "-n", "2", hosts.program("steady"), "6", environment=DGRAM)
    try:
        before = [float(process.stdout.readline()) for _ in range(3)]
        hosts.lab.set(longest_udp=1000)
        out, err = process.communicate(timeout=60)
    finally:
        hosts.lab.set(rate="none", longest_udp=None)
    after = [float(line) for line in out.split()]
    assert process.returncode == 0, err
    told = re.findall(r"rank 0 \[dgram\] packets of (\d+) bytes to process 1, between \S+ and "
                      r"10\.\d+\.0\.2:\d+ do not arrive, and no router reports it; packets of (\d+) "
                      r"bytes do, and are used\. Has a link on the way a smaller MTU, and is ICMP blocked\? "
                      "Give the interfaces", err)
    assert [int(longest) > 1000 >= int(used) > 900 for longest, used in told] == [True], err
    assert sum(after[-4:]) / 4 > 0.2 * sum(before[1:]) / 2, (before, after)


@pytest.mark.parametrize("paths", ["self,dgram", "self,shm,dgram"])
def test_rank_that_computes_longer_than_the_time_out_is_waited_for(hosts, paths):
    """While rank 1 computes, only the kernel of its host answers. The other ranks must wait for rank 1."""
    values = {"LANYARD_PATHS": paths, "LANYARD_PROGRESS": "caller", "LANYARD_PEER_TIMEOUT": "2"}
    code, out, err = hosts.run("--host", "h1:2,h2:2", "-n", "4", "--map-by", "node",
                               hosts.program("computing"), "4", environment=values)
    assert (code, out, err) == (0, "right\n", "")


def cut_off(hosts, words, wait_s, timeout_s, environment=None):
    """Cuts the cable of a job of two hosts for `wait_s` seconds, or to the end if `wait_s` is None.

    Returns (exit code, output, errors, seconds from the cut to the end).
    """
    values = {**DGRAM, "LANYARD_PEER_TIMEOUT": str(timeout_s), **(environment or {})}
    process = hosts.start("--host", "h1,h2", "-n", "2", *words, environment=values)
    try:
        hosts.wait_for("h2", " ".join(words[1:]))
        time.sleep(1)
        hosts.lab.cut("h2")
        began = time.monotonic()
        if wait_s:
            time.sleep(wait_s)
            hosts.lab.heal("h2")
        out, err = process.communicate(timeout=60)
    finally:
        hosts.lab.heal("h2")
    return process.returncode, out, err, time.monotonic() - began


LOST = (r"process [01] at 10\.\d+\.0\.[12]:\d+ (has not answered for 2 s \(LANYARD_PEER_TIMEOUT\)|does not "
        r"answer any more: its process has ended, or its host is cut off)")


def test_host_that_is_cut_off_is_lost_in_time(hosts):
    code, _, err, seconds = cut_off(hosts, [hosts.program("silent"), "going-on", "30"], None, 2)
    assert code not in (0, 134, 139), err
    assert (len(re.findall(r"MPI_\w+\(.*\) on rank 0 \(h1\): .*" + LOST, err)) <= 1
            and re.search(LOST, err)), err
    assert 1.4 < seconds < PATIENCE_S


@pytest.fixture
def twins(possible, tmp_path):
    with Lab(hosts=2) as made:
        made.twin(*made.hosts)
        yield Hosts(made, tmp_path)


def test_host_that_is_cut_off_is_not_taken_for_this_one(twins):
    """A liveness check must not reach the process that makes it.

    Both hosts have an interface with the same address, and both processes use the same port.
    """
    code, _, err, seconds = cut_off(twins, [twins.program("silent"), "going-on", "30"], None, 2,
                                    {"LANYARD_PORT_RANGE": "45000-45000"})
    assert code not in (0, 134, 139) and re.search(LOST, err), err
    assert 1.4 < seconds < PATIENCE_S


@pytest.mark.parametrize("progress", ["auto", "caller"])
def test_host_that_is_cut_off_is_missed_by_who_waits_only(hosts, progress):
    code, _, err, seconds = cut_off(hosts, [hosts.program("computing"), "30"], None, 2,
                                    {"LANYARD_PROGRESS": progress})
    assert code not in (0, 134, 139), err
    assert re.search(r"MPI_\w+\(.*\) on rank 0 \(h1\): .*" + LOST, err), err
    assert seconds < PATIENCE_S


@pytest.mark.parametrize("seconds", [3.5, 30][:1 + LONG])
def test_cable_cut_for_less_than_the_time_out_is_a_pause(hosts, seconds):
    code, out, err, _ = cut_off(hosts, [hosts.program("silent"), "going-on", "3"], seconds, 60)
    assert (code, out, err) == (0, "cut\nright\n", "")


def silent_into_the_cut(hosts, how):
    """Runs silent.c and cuts the cable. Returns (exit code, output, errors).

    Rank 0 sends into the cut, computes for 5 s, and only then calls MPI again.
    """
    process = hosts.start("--host", "h1,h2", "-n", "2", hosts.program("silent"), how, 5,
                          environment={**DGRAM, "LANYARD_PEER_TIMEOUT": "2"})
    try:
        first = process.stdout.readline()
        hosts.lab.cut("h2")
        out, err = process.communicate(timeout=60)
    finally:
        hosts.lab.heal("h2")
    return process.returncode, first + out, err


SILENT = r"process 1 at 10\.\d+\.0\.2:\d+ has not answered for 2 s \(LANYARD_PEER_TIMEOUT\)"


# A process that computes acknowledges nothing, so a message that it has received may be reported, too.
@pytest.mark.parametrize(("how", "lost"), [
    ("told", r"(3 messages \(300|4 messages \(304) bytes in all\)"),
    ("freed", r"(4 messages \(400|5 messages \(404) bytes in all\)"),
][:1 + LONG])
def test_messages_that_did_not_arrive_are_told_once_by_finalize(hosts, how, lost):
    code, out, err = silent_into_the_cut(hosts, how)
    assert (code, out) == (PROC_ABORTED, "cut\n"), err
    assert re.search(r"MPI_Finalize\(\) on rank 0 \(h1\): a process that messages were sent to cannot be "
                     f"reached any more: {SILENT}.*; {lost} that were sent to it before may not have "
                     "arrived; the job is aborted", err), err
    assert err.count("LANYARD_PEER_TIMEOUT") == 1, err


if LONG:

    def test_messages_that_did_not_arrive_are_told_by_the_next_call(hosts):
        code, out, err = silent_into_the_cut(hosts, "ask")
        assert code == 3, err
        assert re.search("MPI_Send.* on rank 0 .*: the process to send to cannot be reached any more: "
                         f"{SILENT}.*[34] messages \(30[04] bytes in all\) that were sent to it before may "
                         "not have arrived", out), out
        assert "the class is right" in out
