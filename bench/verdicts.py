"""Judges from pairs of runs which of two builds, A and B, is faster. Used by `bench/compare --ours`.

Pure functions. A pair is one run of A and one run of B, one directly after the other. A slow moment therefore
affects both runs, or it changes only one ratio among many. Each pair gives one ratio for each figure: the
time of B divided by the time of A. If the figure is a rate, the ratio is computed so that it is a ratio of
times, too. A ratio above 1 always means that B is slower.

The ratio of all pairs is their median, with the 95 % interval of the median by order statistics
(figures.interval). This interval does not depend on the distribution of the ratios. B is called slower or
faster only if the whole interval is beyond TOLERANCE. With fewer pairs than FEWEST, even the range of all
pairs contains the true median with a probability of less than 95 %, and there is no verdict.
"""
from statistics import median
from typing import NamedTuple

import machine_state
from figures import summary
from tables import is_rate

TOLERANCE = 0.01
FEWEST = 6
SLOWER, FASTER, LEVEL, TOO_FEW = "slower", "faster", "level", "too few pairs"
MORE, FEWER = "more", "fewer"


class Cell(NamedTuple):
    """One program on one path, which is measured."""
    metric: str
    path: str


class Pair(NamedTuple):
    """One run of each build: {row: (value, unit)} of both, the build that ran first, and the looks before and
    after."""
    round: int
    cell: Cell
    first: str
    a: dict
    b: dict
    before: machine_state.Look | None = None
    after: machine_state.Look | None = None

    def state(self):
        return machine_state.kind_between(self.before, self.after)


class Row(NamedTuple):
    """A figure of both builds: medians, and the ratio {median, low, high, samples} of times by pairs."""
    cell: Cell
    size: int
    unit: str
    a: float
    b: float
    ratio: dict
    verdict: str


class Group(NamedTuple):
    """The rows of the pairs that ran while the machine was in one state. The state '' means all pairs."""
    state: str
    pairs: list
    rows: list


def time_ratio(a, b, unit):
    """Returns the time of B divided by the time of A."""
    return a / b if is_rate(unit) else b / a


def judge(ratio):
    if ratio["samples"] < FEWEST:
        return TOO_FEW
    return SLOWER if ratio["low"] > 1 + TOLERANCE else FASTER if ratio["high"] < 1 - TOLERANCE else LEVEL


def rows_of(pairs):
    """Returns a row for each figure that both runs of some pair gave."""
    found = {}
    for pair in pairs:
        for size in pair.a.keys() & pair.b.keys():
            (a, unit), (b, _) = pair.a[size], pair.b[size]
            if a > 0 and b > 0:
                found.setdefault((pair.cell, size, unit), []).append((a, b))
    rows = []
    for (cell, size, unit), values in found.items():
        ratio = summary([time_ratio(a, b, unit) for a, b in values])
        of_a, of_b = (median(side) for side in zip(*values))
        rows.append(Row(cell, size, unit, of_a, of_b, ratio, judge(ratio)))
    cells = list(dict.fromkeys(pair.cell for pair in pairs))
    return sorted(rows, key=lambda row: (cells.index(row.cell), row.size))


def groups_of(pairs):
    """Returns all pairs, if there are any. If the machine was in several states, the pairs of each state
    follow."""
    states = list(dict.fromkeys(pair.state() for pair in pairs))
    by_state = [(state, [pair for pair in pairs if pair.state() == state]) for state in states]
    chosen = [("", pairs), *by_state] if len(states) > 1 else [("", pairs)] if pairs else []
    return [Group(state, some, rows_of(some)) for state, some in chosen]


class Count(NamedTuple):
    """The instructions of one call in both builds. `variant` names the setting (bench/instructions.py)."""
    call: str
    variant: str
    a: float
    b: float
    ratio: float
    verdict: str


def judge_counts(variant, a, b):
    """Judges {call: instructions} of both builds.

    Counts hardly change from run to run, so a single ratio is enough for a verdict.
    """
    counts = []
    for call in a:
        ratio = b[call] / a[call]
        verdict = MORE if ratio > 1 + TOLERANCE else FEWER if ratio < 1 - TOLERANCE else LEVEL
        counts.append(Count(call, variant, a[call], b[call], ratio, verdict))
    return counts


def slower_ones(groups, counts):
    """Returns everything in which B is worse: rows with the state of their group, and counts."""
    return ([(group.state, row) for group in groups for row in group.rows if row.verdict == SLOWER],
            [count for count in counts if count.verdict == MORE])
