"""Measures the processor time of a whole job while all its ranks wait: launcher, helpers and ranks together.

Used by bench/compare and bench/run. bench-idle prints a line when its ranks wait, and this module then ends
it. The processes of the job are the launcher and its descendants. Their time is read from /proc at two
moments, in nanoseconds for each thread. The time of a process that ends between the two moments is not
counted.
"""
import contextlib
import os
import queue
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from measure import Failed, version

START_LIMIT_SECONDS = 40  # bench-idle ends by itself after 60 s
SETTLE_SECONDS = 1.0      # ranks that poll before they sleep are asleep after this time
WAITS = "ranks wait"      # part of the line that bench-idle prints


def run_idle(library, ranks, seconds=10.0):
    """Returns the processor use of the job in per cent of one processor, in the form of measure.run_json."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(library.command(ranks, "idle"), env=library.environ(),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True,
                                   start_new_session=True)
        members = set()
        try:
            wait_for_line(process, errors)
            time.sleep(SETTLE_SECONDS)
            members = tree(process.pid)
            if len(members) < ranks:
                raise Failed(f"only {len(members)} processes descend from its launcher, "
                             f"which is too few for {ranks} ranks")
            share = share_of(process.pid, seconds)
        finally:
            end(process, members | tree(process.pid))
    return version(library), {"all ranks wait": (100 * share, "%")}


def wait_for_line(process, errors):
    lines = queue.SimpleQueue()

    def read():
        for line in process.stdout:
            lines.put(line)
        lines.put(None)
    threading.Thread(target=read, daemon=True).start()
    deadline = time.monotonic() + START_LIMIT_SECONDS
    try:
        while (line := lines.get(timeout=max(0.0, deadline - time.monotonic()))) is not None:
            if WAITS in line:
                return
    except queue.Empty:
        raise Failed(f"its ranks do not wait after {START_LIMIT_SECONDS} seconds") from None
    process.wait()
    errors.seek(0)
    words = errors.read().decode(errors="replace").strip().splitlines() or ["no words"]
    raise Failed(f"exit code {process.returncode}: {words[-1].strip()}")


def share_of(launcher, seconds):
    """Returns the processor seconds per second that the launcher and its descendants use, over `seconds`."""
    before, start = {member: used_ns(member) for member in tree(launcher)}, time.monotonic()
    time.sleep(seconds)
    after, passed = {member: used_ns(member) for member in tree(launcher)}, time.monotonic() - start
    return sum(max(0, ns - before.get(member, 0)) for member, ns in after.items()) / 1e9 / passed


def stat_of(process):
    """Returns (parent, start time) of a process, or None if it has ended or is a zombie."""
    try:
        words = Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if words[0] in "ZX" else (int(words[1]), int(words[19]))


def tree(root):
    """Returns a process and all its descendants as pairs (id, start time).

    Such a pair stays unique if an id is used again.
    """
    stats = {int(name): stat for name in os.listdir("/proc") if name.isdigit() and (stat := stat_of(name))}
    found, added = set(), {root} & set(stats)
    while added:
        found |= added
        added = {process for process, (parent, _) in stats.items() if parent in added} - found
    return {(process, stats[process][1]) for process in found}


def used_ns(member):
    """Returns the nanoseconds for which the threads of a process have run."""
    total = 0
    for thread in Path(f"/proc/{member[0]}/task").glob("*/schedstat"):
        try:
            total += int(thread.read_text().split()[0])
        except (OSError, IndexError):
            pass  # the thread has ended
    return total


def end(process, members):
    """Terminates the launcher, kills the processes that are left, and waits until they are gone."""
    process.terminate()
    try:
        process.wait(timeout=3)
    except subprocess.TimeoutExpired:
        pass
    def left():
        return [number for number, start in members if (stat := stat_of(number)) and stat[1] == start]
    for number in left():
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + 3
    while left() and time.monotonic() < deadline:
        time.sleep(0.05)
