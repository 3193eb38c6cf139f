"""Measures how long a job lives on after a part of it has died or was refused. Used by bench/run.

The ranks run tests/failures/programs/dying.c, compiled with Lanyard's mpicc. One of them dies at a given
moment of its work and prints the time. Several hosts are simulated on this machine by the tests' stand-in for
ssh (tests/launch/remote_shell). The job is over when mpirun has ended. The same cases are tested by
tests/failures/test_peers.py and tests/launch/test_hosts_endings.py. These tests do not judge times, because
other programs may use the processors while they run.
"""
import os
import re
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import idle
from measure import RUN_LIMIT_SECONDS, Failed, version

TESTS = Path(__file__).resolve().parent.parent / "tests"
MOMENTS = ("before-any-contact", "before-it-answers", "after-messages", "after-an-offer", "receiving-bulk",
           "sending-bulk", "in-a-collective", "in-finalize")
SSH = ("--ssh", str(TESTS / "launch" / "remote_shell"), "--host")
WAYS = {"shared memory": ((), {}), "TCP": ((), {"LANYARD_PATHS": "self,tcp"}),
        "datagrams": ((), {"LANYARD_PATHS": "self,dgram"}),
        "three hosts": ((*SSH, "a,b,c"), {})}


def run_endings(library):
    """Returns milliseconds, in the form of measure.run_json. Each figure is the longest time over all
    moments."""
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(library, folder)
        rows = {}
        for way, how in WAYS.items():
            longest = max(after_a_death(library, folder, program, moment, *how) for moment in MOMENTS)
            rows[f"a rank dies, {way}"] = (longest, "ms")
        rows["an agent dies"] = (after_an_agents_death(library, folder, program), "ms")
        rows["a host refuses"] = (until_refused(library, folder), "ms")
    return version(library), rows


def compiled(library, folder):
    program = Path(folder) / "dying"
    source = TESTS / "failures" / "programs" / "dying.c"
    command = [library.home / "bin" / "mpicc", "-O2", "-o", program, source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"dying.c does not compile: {done.stderr.strip().splitlines()[-1]}")
    return str(program)


def start(library, folder, words, environment=None):
    """Starts mpirun in its own process group, so that all its processes can be killed."""
    return subprocess.Popen([str(library.home / "bin" / "mpirun"), *words], cwd=folder, text=True,
                            start_new_session=True, env={**library.environ(), **(environment or {})},
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(process):
    """Returns (the time of the process's end in seconds since 1970, its standard error)."""
    try:
        _, errors = process.communicate(timeout=RUN_LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise Failed(f"no end after {RUN_LIMIT_SECONDS} seconds") from None
    return time.time(), errors


def after_a_death(library, folder, program, moment, options, environment):
    ended, errors = finish(start(library, folder, [*options, "-n", "3", program, moment, "1"], environment))
    died = re.search(r"^died at ([\d.]+)$", errors, re.MULTILINE)
    if not died:
        raise Failed(f"nobody died {moment}: {errors.strip()[-200:] or 'no words'}")
    return (ended - float(died[1])) * 1e3


def after_an_agents_death(library, folder, program):
    """Kills the last agent while all ranks wait for each other."""
    process = start(library, folder, [*SSH, "a,b", "-n", "2", program, "waiting", "1"])
    deadline, agents, ranks = time.monotonic() + idle.START_LIMIT_SECONDS, [], 0
    while (len(agents) < 1 or ranks < 2) and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.05)
        lines = {number: command_of(number) for number, _ in idle.tree(process.pid)}
        agents = sorted(number for number, line in lines.items() if line.endswith("mpirun --agent"))
        ranks = sum(line.startswith(program) for line in lines.values())
    if not agents or ranks < 2:
        finish(kill(process.pid, process))
        raise Failed("two hosts did not begin to wait")
    time.sleep(idle.SETTLE_SECONDS)
    began = time.time()
    ended, _ = finish(kill(agents[-1], process))
    return (ended - began) * 1e3


def kill(number, process):
    os.kill(number, signal.SIGKILL)
    return process


def command_of(number):
    try:
        return (Path(f"/proc/{number}/cmdline").read_bytes().replace(b"\0", b" ")
                .decode(errors="replace").strip())
    except OSError:
        return ""


def until_refused(library, folder):
    began = time.time()
    ended, errors = finish(start(library, folder, [*SSH, "a,refusing,b", "-n", "3", "true"]))
    if "refuses the login" not in errors:
        raise Failed(f"the host refused nothing: {errors.strip()[-200:] or 'no words'}")
    return (ended - began) * 1e3
