"""Defines the contents of a file of bench/results (series_file.py).

They are a series of measurements and the known facts about it. The samples of many series have not been kept,
only summaries of them: medians, intervals and ratios.
"""
from dataclasses import dataclass, field
from typing import NamedTuple

from measure import Series

LAYOUTS = ("table", "grid")  # a line for each row and library, or a line for each row with all libraries


class Ratio(NamedTuple):
    """The median of ratios by rounds, and its 95 % interval."""

    median: float
    low: float
    high: float


class Summary(NamedTuple):
    """The known facts about a row of a library whose samples have not been kept. None: not known."""

    median: float
    low: float | None = None
    high: float | None = None
    best: float | None = None
    runs: int | None = None
    # ratio of the first library's figures to those of this library
    ratio: Ratio | None = None
    # for two builds: the time of this build divided by that of the first
    time_ratio: Ratio | None = None
    verdict: str | None = None


@dataclass
class Record:
    """The contents of a file of bench/results: a series and the known facts about it. None: not known."""

    series: Series  # has no values if there are summaries
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
    # {row: Ratio}, how many times better the first library is than the best other library
    gains: dict = field(default_factory=dict)
    # {key: bytes that the interface counted for each byte sent}
    counted_per_sent: dict = field(default_factory=dict)

    @property
    def title(self):
        return self.series.name

    @property
    def has_samples(self):
        return bool(self.series.values)
