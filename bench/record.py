"""What a file of bench/results (series_file.py) has: a series of measurements and what is known about it.

The samples of many series are gone, and summaries of them are left: medians, intervals and ratios.
"""
from dataclasses import dataclass, field
from typing import NamedTuple

from measure import Series

LAYOUTS = ("table", "grid")  # a line for each row and library, or a line for each row with all libraries


class Ratio(NamedTuple):
    """A median of ratios by rounds, and its 95 % interval."""

    median: float
    low: float
    high: float


class Summary(NamedTuple):
    """What is known of a row of a library whose samples are gone; None for what is not."""

    median: float
    low: float | None = None
    high: float | None = None
    best: float | None = None
    runs: int | None = None
    ratio: Ratio | None = None  # of the figures of the first library to those of this one
    time_ratio: Ratio | None = None  # of two builds: the time of this one over that of the first
    verdict: str | None = None


@dataclass
class Record:
    """A file of bench/results: a series and what is known about it. None stands for what is not known."""

    series: Series  # without values where there are summaries
    name: str
    group: str
    libraries: dict  # {key: title}, in the order of columns
    first: str  # the key of the library that the others are compared with
    ranks: int | None = None
    route: str | None = None
    layout: str = "table"
    command: str | None = None
    commit: str | None = None
    begun: str | None = None  # 2026-11-24 16:44 UTC, or the date alone
    ended: str | None = None
    machine: dict = field(default_factory=dict)  # processor, processors, memory_gib, system, kernel and so on
    notes: list = field(default_factory=list)
    summaries: dict = field(default_factory=dict)  # {key: {row: Summary}}
    gains: dict = field(default_factory=dict)  # {row: Ratio}, the first library over the best other
    counted_per_sent: dict = field(default_factory=dict)  # {key: bytes on the interface for each byte sent}

    @property
    def title(self):
        return self.series.name

    @property
    def has_samples(self):
        return bool(self.series.values)
