"""Running benchmark programs on several libraries by turns, on a machine that is quiet or said not to be.

Used by bench/compare and bench/run. A round runs every library once; the order moves on by one each round, so that no
library always follows the same other. A run that fails is remembered with its last words and never counted as a number.
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
import proof
from peers import say
from report import size_name

RUN_LIMIT_SECONDS = 120
LINE_BYTES_PER_US = 125  # 1 Gbit/s


class Failed(Exception):
    """A run that gave no result; the text is its last line."""


def run(library, ranks, program, arguments=()):
    """Runs one program of the library to its end and returns its standard output."""
    return run_command(library, library.command(ranks, program, arguments))


def run_command(library, command, limit_seconds=None):
    """The whole process group dies with a run that hangs. What it writes beside its output (a profile's numbers) goes away with its folder."""
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
    """Runs one program with --json: (version of the library, {row: (median, unit)}); row_key says what a row is."""
    return read_json(run(library, ranks, program, [*arguments, "--json"]))


def run_own(library, command):
    """The same of a command that is no MPI program."""
    return version(library), read_json(run_command(library, command))[1]


def run_profiled(library, ranks, program, arguments=()):
    """run_json of Lanyard with a profile (docs/profile.md): what it counted of packets that were given up stands beside, of all ranks."""
    with tempfile.TemporaryDirectory() as folder:
        output = run_inside(folder, {**library.environ(), "LANYARD_PROFILE": "on"}, library.command(ranks, program, [*arguments, "--json"]))
        profiles = [json.loads(path.read_text()) for path in Path(folder).glob("lanyard-profile-*.json")]
    version, rows = read_json(output)
    for rank in [rank for profile in profiles for rank in profile["ranks"] if "datagrams" in rank]:
        for name in ("packets", "given up by order", "given up by time", "given up by probe", "missing"):
            rows[name] = (rows.get(name, (0, ""))[0] + rank["datagrams"][name], "packets")
    return version, rows


class Loss(float):
    """Per cent of packets that a link loses: the second half of a row's key, in the place of a size."""

    def __str__(self):
        return f"loss {self:g} %"


def run_at_losses(library, losses, run):
    """(version, rows) of run() at each of these losses of the link; the rows are known by what they were and the loss."""
    at_all = Rows()
    for loss in map(Loss, losses):
        library.lose(loss)
        version, rows = run()
        at_all.update({(size_name(row), loss): figure for row, figure in rows.items()})
        at_all.sent_bytes += rows.sent_bytes
    return version, at_all


def add_shares_of_line(rows, ranks):
    """Beside each bandwidth, and each time of a collective operation in which one rank receives a block from every other one, the share that its
    payload has of what LINE_BYTES_PER_US of a link could carry."""
    for row, (value, unit) in list(rows.items()):
        if unit not in ("GB/s", "us"):
            continue
        name, size = row if isinstance(row, tuple) else ("", row)
        bytes_per_us = 1e3 * value if unit == "GB/s" else (ranks - 1) * size / value
        rows[(name + ", " if name else "") + "share of the line", size] = (100 * bytes_per_us / LINE_BYTES_PER_US, "%")


class Rows(dict):
    """{row: (median, unit)}, and the bytes that the program sent in all, 0 where it does not say."""

    sent_bytes = 0


def read_json(output):
    try:
        report = json.loads(output[output.index("{"):])
        rows = Rows({row_key(row.get("name"), row.get("bytes")): (row["median"], row["unit"]) for row in report["results"]})
        rows.sent_bytes = round(report.get("sent_bytes", 0))
        return report.get("library", ""), rows
    except (ValueError, KeyError) as problem:
        raise Failed(f"its output is not the expected JSON ({problem})") from None


def row_key(name, size):
    """A row is known by its size, by its name, or by both as a pair."""
    return (name, size) if name is not None and size is not None else name if size is None else size


def row_text(row):
    return " ".join(map(str, row)) if isinstance(row, tuple) else str(row)


def run_timed(library, ranks):
    """Wall-clock milliseconds of a job that starts and ends MPI, launcher included, in the form of run_json."""
    start = time.perf_counter()
    run(library, ranks, "startup")
    milliseconds = (time.perf_counter() - start) * 1e3
    return version(library), {f"startup of {ranks} ranks": (milliseconds, "ms")}


def run_nothing(library, ranks):
    """The same of processes that know nothing of MPI: what its launcher takes."""
    start = time.perf_counter()
    run_command(library, [*library.launcher(ranks), "/bin/true"])
    milliseconds = (time.perf_counter() - start) * 1e3
    return version(library), {f"startup of {ranks} processes without MPI": (milliseconds, "ms")}


@functools.cache
def version(library):
    return run_json(library, 1, "barrier", ["--blocks", "1", "--block-seconds", "1e-5"])[0]


def busy_share(seconds=0.3):
    """How much of the machine's processors other work took over this time, 0 to 1 (stolen time included)."""
    def ticks():
        with open("/proc/stat") as file:
            numbers = [int(word) for word in file.readline().split()[1:9]]
        return sum(numbers), numbers[3] + numbers[4]
    all_before, idle_before = ticks()
    time.sleep(seconds)
    all_after, idle_after = ticks()
    return 1 - (idle_after - idle_before) / max(all_after - all_before, 1)


def wait_until_quiet(limit_seconds):
    """Waits until other work takes under a tenth of the machine; gives up after the limit. Returns the last share seen."""
    deadline = time.monotonic() + limit_seconds
    share = busy_share()
    while share > 0.10 and time.monotonic() < deadline:
        share = busy_share(0.5)
    return share


class Series:
    """What alternating runs of one kind gave: values[library][row] is a list with one entry a round, None where it failed."""

    def __init__(self, name):
        self.name = name
        self.values = {}
        self.units = {}
        self.versions = {}
        self.failures = {}
        self.busy = []
        self.looks = []  # at the machine, before and after each round, where they are taken (machine_state.py)
        self.counted = {}  # by library: (bytes that the route's interface counted, bytes sent), one a run; see proof.py

    def add(self, library, number, version, rows):
        """The result of round `number`; earlier rounds without one are None."""
        self.versions[library.key] = version
        table = self.values.setdefault(library.key, {})
        for row, (value, unit) in rows.items():
            column = table.setdefault(row, [])
            column += [None] * (number - len(column)) + [value]
            self.units[row] = unit

    def add_failure(self, library, words):
        self.failures.setdefault(library.key, []).append(words)

    def off_path(self, key):
        """Whether the interface of the route did not see what a library sent."""
        quotients = proof.quotients(self, key)
        return bool(quotients) and statistics.median(quotients) < proof.LEAST

    def numbers(self, key, row):
        return [value for value in self.values.get(key, {}).get(row, []) if value is not None]

    def of_rounds(self, rounds):
        """The same of some rounds only; without what was counted on the interface, and without the failures."""
        some = Series(self.name)
        some.units, some.versions = self.units, self.versions
        some.busy, some.looks = ([column[number] for number in rounds] for column in (self.busy, self.looks))
        some.values = {key: {row: [column[number] for number in rounds if number < len(column)] for row, column in table.items()}
                       for key, table in self.values.items()}
        return some

    def by_state(self):
        """{state: rounds}, counted from 0, of the states that the machine was in; nothing where nobody looked."""
        rounds = {}
        for number, looks in enumerate(self.looks):
            rounds.setdefault(machine_state.kind_between(*looks), []).append(number)
        return rounds

    def as_json(self):
        return {"name": self.name, "units": {row_text(k): v for k, v in self.units.items()}, "versions": self.versions,
                "failures": self.failures, "bytes_counted_and_sent": self.counted,
                "busy_share_before_each_round": [round(share, 3) for share in self.busy],
                "machine_in_each_round": [{"state": machine_state.kind_between(*looks),
                                           "looks": [look and look._asdict() for look in looks]} for looks in self.looks],
                "values": {key: {row_text(row): column for row, column in table.items()} for key, table in self.values.items()}}


def measured_with_proof(series, library, measure):
    """measure(library), prepared, while the interface of the route is watched."""
    if library.prepare:
        library.prepare()
    before = library.counted() if library.counted else None
    version, rows = measure(library)
    sent_bytes = getattr(rows, "sent_bytes", 0)
    if before is not None and sent_bytes > 0:
        series.counted.setdefault(library.key, []).append((library.counted() - before, sent_bytes))
    return version, rows


def alternate(name, libraries, rounds, measure, quiet_seconds=5, give_up_after=3, look=None):
    """`rounds` rounds of measure(library) -> (version, rows) over all libraries, as a Series.

    A library that failed `give_up_after` times and never gave a number is not tried again. look() looks at the machine before and after
    each round.
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
