"""Runs benchmark programs on several libraries in turns, on a quiet machine if possible.

Used by bench/compare and bench/run. A round runs every library once. The order rotates by one from round to
round, so that each library is first in turn. Before each round, this module waits until the machine is quiet
and records how busy it was. If a run fails, its last line of output is recorded, and it never counts as a
number.
"""
import functools
import json
import os
import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import machine_state
import peers
import proof
from peers import say
from tables import size_name

RUN_LIMIT_SECONDS = 120
LINE_BYTES_PER_US = 125  # 1 Gbit/s


class Failed(Exception):
    """A run without a result. The text is its last line of output."""


def run(library, ranks, program, arguments=()):
    """Runs one program of the library to its end and returns its standard output."""
    return run_command(library, library.command(ranks, program, arguments))


def run_command(library, command, limit_seconds=None):
    """Runs a command in a temporary folder, into which it can write files such as a profile.

    If the command hangs, its process group is killed.
    """
    with tempfile.TemporaryDirectory() as folder:
        return run_inside(folder, library.environ(), command, limit_seconds)


def run_inside(folder, environment, command, limit_seconds=None):
    limit_seconds = limit_seconds or RUN_LIMIT_SECONDS
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True, cwd=folder)
    try:
        output, errors = process.communicate(timeout=limit_seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise Failed(f"no end after {limit_seconds} seconds") from None
    if process.returncode != 0:
        words = (errors.strip() or output.strip() or "no words").splitlines()
        raise Failed(f"exit code {process.returncode}: {words[-1].strip()}")
    return output


def run_json(library, ranks, program, arguments=()):
    """Runs one program with --json. Returns (library version, {row: (median, unit)}). row_key() defines a
    row."""
    return read_json(run(library, ranks, program, [*arguments, "--json"]))


def run_own(library, command):
    """Does the same for a command that is not an MPI program."""
    return version(library), read_json(run_command(library, command))[1]


def pinning(ranks):
    """Returns the words before a program's own that pin each rank to a processor if there are enough.

    They are for programs that cannot do so themselves, as Lanyard's benchmark programs can.
    """
    allowed = " ".join(map(str, sorted(os.sched_getaffinity(0))))
    if ranks > peers.processors():
        return []
    return ["sh", "-c", f'exec taskset -c "$(echo {allowed} | cut -d " " -f $((PMI_RANK + 1)))" "$0" "$@"']


def run_profiled(library, ranks, program, arguments=()):
    """Does the same as run_json for Lanyard with a profile (docs/profile.md).

    The profile counts the packets that were given up. These counts, summed over all ranks, are further rows.
    """
    with tempfile.TemporaryDirectory() as folder:
        output = run_inside(folder, {**library.environ(), "LANYARD_PROFILE": "on"},
                            library.command(ranks, program, [*arguments, "--json"]))
        profiles = [json.loads(path.read_text())
                    for path in Path(folder).glob("lanyard-profile-*.json")]
    version, rows = read_json(output)
    for rank in [rank for profile in profiles for rank in profile["ranks"] if "datagrams" in rank]:
        for name in ("packets", "given up by order", "given up by time", "given up by probe", "missing"):
            rows[name] = (rows.get(name, (0, ""))[0] + rank["datagrams"][name], "packets")
    return version, rows


class Loss(float):
    """The percentage of packets that a link loses. In a row's key, it stands where other rows have the
    size."""

    def __str__(self):
        return f"loss {self:g} %"


def run_at_losses(library, losses, run):
    """Returns (version, rows) of run() at each of these losses of the link. The keys are pairs of text and
    loss."""
    at_all = Rows()
    for loss in map(Loss, losses):
        library.lose(loss)
        version, rows = run()
        at_all.update({(size_name(row), loss): figure for row, figure in rows.items()})
        at_all.sent_bytes += rows.sent_bytes
    return version, at_all


def add_shares_of_line(rows, ranks):
    """Adds the share of a link's capacity (LINE_BYTES_PER_US) that the payload used.

    The share is added to each bandwidth, and to each time of a collective operation in which a rank receives
    a block from every other rank.
    """
    for row, (value, unit) in list(rows.items()):
        if unit not in ("GB/s", "us"):
            continue
        name, size = row if isinstance(row, tuple) else ("", row)
        bytes_per_us = 1e3 * value if unit == "GB/s" else (ranks - 1) * size / value
        rows[(name + ", " if name else "") + "share of the line", size] = (
            100 * bytes_per_us / LINE_BYTES_PER_US, "%")


class Rows(dict):
    """{row: (median, unit)}. `sent_bytes` is the number of bytes that the program sent, or 0 if it does not
    report it."""

    sent_bytes = 0


def read_json(output):
    try:
        report = json.loads(output[output.index("{"):])
        rows = Rows({row_key(row.get("name"), row.get("bytes")): (row["median"], row["unit"])
                     for row in report["results"]})
        rows.sent_bytes = round(report.get("sent_bytes", 0))
        return report.get("library", ""), rows
    except (ValueError, KeyError) as problem:
        raise Failed(f"its output is not the expected JSON ({problem})") from None


def row_key(name, size):
    """Returns the key of a row: its size, its name, or both as a pair."""
    return (name, size) if name is not None and size is not None else name if size is None else size


def run_timed(library, ranks):
    """Measures, with the launcher, the wall-clock time of a job that starts and ends MPI.

    Returns the milliseconds as rows.
    """
    start = time.perf_counter()
    run(library, ranks, "startup")
    milliseconds = (time.perf_counter() - start) * 1e3
    return version(library), {f"startup of {ranks} ranks": (milliseconds, "ms")}


def run_nothing(library, ranks):
    """Does the same for processes without MPI. This is the time of the launcher."""
    start = time.perf_counter()
    run_command(library, [*library.launcher(ranks), "/bin/true"])
    milliseconds = (time.perf_counter() - start) * 1e3
    return version(library), {f"startup of {ranks} processes without MPI": (milliseconds, "ms")}


@functools.cache
def version(library):
    return run_json(library, 1, "barrier", ["--blocks", "1", "--block-seconds", "1e-5"])[0]


def busy_share(seconds=0.3):
    """Returns the share of the processors that other work used during this time, from 0 to 1.

    Stolen time is included.
    """
    def ticks():
        with open("/proc/stat") as file:
            numbers = [int(word) for word in file.readline().split()[1:9]]
        return sum(numbers), numbers[3] + numbers[4]
    all_before, idle_before = ticks()
    time.sleep(seconds)
    all_after, idle_after = ticks()
    return 1 - (idle_after - idle_before) / max(all_after - all_before, 1)


def wait_until_quiet(limit_seconds):
    """Waits until other work uses less than a tenth of the machine, but not longer than the limit.

    Returns the last share.
    """
    deadline = time.monotonic() + limit_seconds
    share = busy_share()
    while share > 0.10 and time.monotonic() < deadline:
        share = busy_share(0.5)
    return share


class Series:
    """The results of alternating runs of one kind.

    values[library][row] is a list with one entry for each round, which is None for a run that failed.
    """

    def __init__(self, name):
        self.name = name
        self.values = {}
        self.units = {}
        self.versions = {}
        self.failures = {}
        self.busy = []
        # The looks at the machine (machine_state.py) before and after each round, if there are any.
        self.looks = []
        # For each library, a list with an entry for each run: (bytes that the route's interface counted,
        # bytes sent); see proof.py.
        self.counted = {}

    def add(self, library, number, version, rows):
        """Adds the result of round `number`. The entries of earlier rounds without a result become None."""
        self.versions[library.key] = version
        table = self.values.setdefault(library.key, {})
        for row, (value, unit) in rows.items():
            column = table.setdefault(row, [])
            column += [None] * (number - len(column)) + [value]
            self.units[row] = unit

    def add_failure(self, library, words):
        self.failures.setdefault(library.key, []).append(words)

    def off_path(self, key):
        """Returns whether the interface of the route did not count the bytes that the library sent."""
        quotients = proof.quotients(self, key)
        return bool(quotients) and statistics.median(quotients) < proof.LEAST

    def numbers(self, key, row):
        return [value for value in self.values.get(key, {}).get(row, []) if value is not None]

    def of_rounds(self, rounds):
        """Returns the results of some rounds only, without the counts of the interface and without the
        failures."""
        some = Series(self.name)
        some.units, some.versions = self.units, self.versions
        some.busy, some.looks = ([column[number] for number in rounds] for column in (self.busy, self.looks))
        some.values = {key: {row: [column[number] for number in rounds if number < len(column)]
                             for row, column in table.items()}
                       for key, table in self.values.items()}
        return some

    def by_state(self):
        """Returns {state of the machine: its rounds, counted from 0}, or {} if there are no looks."""
        rounds = {}
        for number, looks in enumerate(self.looks):
            rounds.setdefault(machine_state.kind_between(*looks), []).append(number)
        return rounds


def measured_with_proof(series, library, measure):
    """Prepares the library, calls measure(library), and records how many bytes the interface of the route
    counted."""
    if library.prepare:
        library.prepare()
    before = library.counted() if library.counted else None
    version, rows = measure(library)
    sent_bytes = getattr(rows, "sent_bytes", 0)
    if before is not None and sent_bytes > 0:
        series.counted.setdefault(library.key, []).append((library.counted() - before, sent_bytes))
    return version, rows


def alternate(name, libraries, rounds, measure, quiet_seconds=5, give_up_after=3, look=None):
    """Makes `rounds` rounds of measure(library) -> (version, rows) over all libraries. Returns a Series.

    A library that has failed `give_up_after` times and has no number yet is not tried again. look() is called
    before and after each round and returns a look at the machine.
    """
    series = Series(name)
    order = list(libraries.values())
    started = time.monotonic()
    for number in range(rounds):
        series.busy.append(wait_until_quiet(quiet_seconds))
        before = look() if look else None
        for library in order[number % len(order):] + order[:number % len(order)]:
            failures = len(series.failures.get(library.key, []))
            if failures >= give_up_after and library.key not in series.values:
                continue
            try:
                series.add(library, number, *measured_with_proof(series, library, measure))
            except Failed as problem:
                series.add_failure(library, str(problem))
                if failures == 0:
                    say(f"{name} on {library.title}: {problem}")
        if look:
            series.looks.append((before, look()))
        say(f"{name}: round {number + 1} of {rounds}, {time.monotonic() - started:.0f} s")
    return series
