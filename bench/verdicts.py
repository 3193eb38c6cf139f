"""What is faster of two builds, A and B, judged from pairs of runs; used by `bench/compare --ours`. Pure
functions.

A pair is one run of A and one of B, one directly after the other, so that a slow moment meets both or
spoils one ratio among many. Each pair gives one ratio for each figure: the time of B over the time of A,
also where the figure is a rate, so above 1 B is always the slower one. The ratio of all pairs is their
median, with the 95 % interval of the median by order statistics (figures.interval): nothing is assumed of
how they are spread. B is called slower or faster only where the whole interval lies beyond TOLERANCE. Below
FEWEST pairs not even the whole range of them encloses the median with 95 %, and nothing is called anything.
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
    """What is measured by one program on one path."""
    metric: str
    path: str


class Pair(NamedTuple):
    """One run of each build: {row: (value, unit)} of both, who was first, the machine before and after."""
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
    """Rows of the pairs that ran while the machine was in one state; of all pairs where the state is ''."""
    state: str
    pairs: list
    rows: list


def time_ratio(a, b, unit):
    """The time that B takes over that of A."""
    return a / b if is_rate(unit) else b / a


def judge(ratio):
    if ratio["samples"] < FEWEST:
        return TOO_FEW
    return SLOWER if ratio["low"] > 1 + TOLERANCE else FASTER if ratio["high"] < 1 - TOLERANCE else LEVEL


def rows_of(pairs):
    """A row for each figure that both runs of some pair gave."""
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
    """All pairs, if there are any; then, where the machine was in more than one state, those of each."""
    states = list(dict.fromkeys(pair.state() for pair in pairs))
    by_state = [(state, [pair for pair in pairs if pair.state() == state]) for state in states]
    chosen = [("", pairs), *by_state] if len(states) > 1 else [("", pairs)] if pairs else []
    return [Group(state, some, rows_of(some)) for state, some in chosen]


class Count(NamedTuple):
    """Instructions of one call in both builds; the variant is what was set (bench/instructions.py)."""
    call: str
    variant: str
    a: float
    b: float
    ratio: float
    verdict: str


def judge_counts(variant, a, b):
    """Of {call: instructions} of both. Counts hardly change from run to run: one ratio says something."""
    counts = []
    for call in a:
        ratio = b[call] / a[call]
        verdict = MORE if ratio > 1 + TOLERANCE else FEWER if ratio < 1 - TOLERANCE else LEVEL
        counts.append(Count(call, variant, a[call], b[call], ratio, verdict))
    return counts


def slower_ones(groups, counts):
    """Everything in which B is behind: rows with the state of their group, and counts."""
    return ([(group.state, row) for group in groups for row in group.rows if row.verdict == SLOWER],
            [count for count in counts if count.verdict == MORE])
