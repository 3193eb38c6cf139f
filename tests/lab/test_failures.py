"""Tests failures between hosts: ranks and agents die, messages cross, a host is cut off.

tests/failures tests failures that are possible on one machine. tests/launch tests the launcher's messages
about unusable hosts.
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from lab import Lab  # noqa: E402
from lab.jobs import BUILD, Hosts  # noqa: E402

MOMENTS = ("before-any-contact", "before-it-answers", "after-messages", "after-an-offer", "receiving-bulk",
           "sending-bulk", "in-a-collective", "in-finalize")
PROC_ABORTED = 58
LONG = "LANYARD_TEST_ALL" in os.environ
# The limit of the time from a death to the end of the job, on a machine with other work. The limit is less
# than LANYARD_PEER_TIMEOUT, because after that time the job would end anyway. bench/endings.py measures how
# long the end really takes.
PATIENCE_S = 30


@pytest.fixture(scope="module")
def two_hosts(possible, tmp_path_factory):
    with Lab(hosts=2) as made:
        yield Hosts(made, tmp_path_factory.mktemp("failures"))


@pytest.fixture
def hosts(two_hosts):
    yield two_hosts
    two_hosts.expect_nothing_left()


def ways_to_move_on():
    """Settings that decide how messages progress while the program computes, if the build has a choice."""
    told = subprocess.run([BUILD / "bin" / "lanyard", "info", "--settings"], capture_output=True, text=True,
                          check=True).stdout
    return [{}] + [{"LANYARD_PROGRESS": value} for value in ("auto", "helper", "caller")
                   if "LANYARD_PROGRESS" in told]


@pytest.mark.parametrize("moment", MOMENTS)
def test_rank_that_dies_ends_the_job_in_time(hosts, moment):
    code, out, err = hosts.run("--host", "h1,h2", "-n", "3", "--map-by", "node", hosts.program("dying"),
                               moment, 1)
    ended = time.time()
    assert (code, out) == (137, "")
    died = re.fullmatch(r"died at ([\d.]+)\nmpirun: rank 1 \(\S+dying, process \d+ on h2\) was killed by "
                        r"signal 9 \(SIGKILL: Killed\)\n", err)
    assert died, err
    assert ended - float(died[1]) < PATIENCE_S


def killed(hosts, process, victim):
    """Kills a process of a job. Returns (exit code, errors, seconds until the end) of the job."""
    os.kill(victim, signal.SIGKILL)
    began = time.monotonic()
    _, err = process.communicate(timeout=60)
    return process.returncode, err, time.monotonic() - began


def test_rank_killed_on_another_host(hosts):
    """The rank is killed while both ranks wait for each other."""
    process = hosts.start("--host", "h1,h2", "-n", "2", hosts.program("dying"), "waiting", 1)
    victim = hosts.wait_for("h2", "dying waiting 1")
    time.sleep(0.3)
    code, err, seconds = killed(hosts, process, victim)
    assert code == 137 and seconds < PATIENCE_S
    assert re.fullmatch(rf"mpirun: rank 1 \(\S+dying, process {victim} on h2\) was killed by signal 9 "
                        r"\(SIGKILL: Killed\)\n", err), err


@pytest.mark.parametrize(("who", "why"), [("agent", "the connection was closed"), ("guard", "")])
def test_agent_or_guard_killed_on_another_host(hosts, who, why):
    process = hosts.start("--host", "h1,h2:2", "-n", "3", hosts.program("dying"), "waiting", 1)
    hosts.wait_for("h2", "dying waiting 1")
    time.sleep(0.3)
    victim = hosts.wait_for("h2", "mpirun --agent" if who == "agent" else "lanyard-guard")
    code, err, seconds = killed(hosts, process, victim)
    assert seconds < PATIENCE_S
    if who == "agent":
        assert code == 1 and err.startswith("mpirun: host h2 (ranks 1 and 2) is lost: "), err
    else:
        assert (code, err) == (137, "mpirun: the process that guards the ranks on h2 (lanyard-guard) was "
                                    "killed, and the job with it\n")


def test_messages_that_cross_arrive(hosts):
    for way in ways_to_move_on():
        assert hosts.run("--host", "h1,h2", "-n", "2", hosts.program("crossing"),
                         environment=way) == (0, "right\n", ""), way


def test_host_that_cannot_be_reached_is_lost_after_the_time_that_is_set(hosts):
    """The cable between the ranks is cut. The launcher's own connection does not use this cable, so only the
    ranks notice the cut."""
    process = hosts.start("--host", "h1,h2", "-n", "2", hosts.program("dying"), "late", 1,
                          environment={"LANYARD_PEER_TIMEOUT": "2"})
    hosts.wait_for("h2", "dying late 1")
    hosts.lab.cut("h2")
    try:
        _, err = process.communicate(timeout=60)
    finally:
        hosts.lab.heal("h2")
    assert process.returncode not in (0, 124, 134, 139)
    assert re.search(r"process [01]( at \S+)? cannot be reached since 2 s \(LANYARD_PEER_TIMEOUT\)", err), err


def cut_while(hosts, how, seconds, cut_s, timeout_s):
    """Runs silent.c and cuts the cable for `cut_s` seconds, or to the end if `cut_s` is None.

    Returns (exit code, output, errors, seconds from the cut to the end).
    """
    process = hosts.start("--host", "h1,h2", "-n", "2", hosts.program("silent"), how, seconds,
                          environment={"LANYARD_PEER_TIMEOUT": str(timeout_s)})
    first = process.stdout.readline()
    hosts.lab.cut("h2")
    began = time.monotonic()
    try:
        if cut_s:
            time.sleep(cut_s)
            hosts.lab.heal("h2")
        out, err = process.communicate(timeout=60)
    finally:
        hosts.lab.heal("h2")
    return process.returncode, first + out, err, time.monotonic() - began


@pytest.mark.parametrize(("how", "lost"), [
    ("told", r"3 messages \(300 bytes in all\)"),
    ("freed", r"4 messages \(400 bytes in all\)"),
][:1 + LONG])
def test_messages_that_did_not_arrive_are_told_by_finalize(hosts, how, lost):
    """The sends of some messages are complete, but the peer fails while the program computes. No other call
    reports the failure, so MPI_Finalize must report it."""
    code, out, err, _ = cut_while(hosts, how, 5, None, 2)
    assert (code, out) == (PROC_ABORTED, "cut\n"), err
    assert re.search(r"MPI_Finalize\(\) on rank 0 \(h1\): a process that messages were sent to cannot be "
                     r"reached any more: process 1 at 10\.\d+\.0\.2 cannot be reached since 2 s "
                     rf"\(LANYARD_PEER_TIMEOUT\).*; {lost} that were sent to it before may not have arrived; "
                     "the job is aborted", err), err


if LONG:

    def test_messages_that_did_not_arrive_are_told_by_the_next_call(hosts):
        code, out, err, _ = cut_while(hosts, "ask", 5, None, 2)
        assert code == 3, err
        assert re.search("MPI_Send.* on rank 0 .*: the process to send to cannot be reached any more: "
                         r"process 1 at \S+ cannot be reached since 2 s .*3 messages \(300 bytes in all\) "
                         "that were sent to it before may not have arrived", out), out
        assert re.search("MPI_Probe.* on rank 0 .*: the process to receive from cannot be reached any more: "
                         "process 1 at ", out), out
        assert "the class is right" in out


def test_cable_cut_for_longer_than_the_time_out_ends_the_job(hosts):
    code, out, err, seconds = cut_while(hosts, "going-on", 30, None, 2)
    assert (code, out) == (PROC_ABORTED, "cut\n"), err
    assert re.search(r"Lanyard: MPI_\w+\(.*\) on rank [01] \(h[12]\): .*process [01] at \S+ cannot be "
                     r"reached since 2 s \(LANYARD_PEER_TIMEOUT\)",
                     err), err
    assert 1 <= seconds < PATIENCE_S, err


def test_cable_cut_for_less_than_the_time_out_is_a_pause(hosts):
    code, out, err, _ = cut_while(hosts, "going-on", 1, 3.5, 20)
    assert (code, out, err) == (0, "cut\nright\n", "")
