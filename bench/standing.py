"""How the first library of a series stands beside the others: which figures it wins, and by how much.

Pure functions over records (record.py), of samples as well as of summaries. A gain above 1 is won. For a time
it is the best other's over the first's, for a rate the first's over the best other's.
"""
from math import exp, log
from statistics import median
from typing import NamedTuple

import proof
from figures import paired_ratio, summary
from record import Ratio, Summary
from tables import best, is_rate

MPI_LIBRARIES = ("mpich", "impi", "impi-wait", "openmpi")
OF_LANYARD = ("lanyard-tcp", "lanyard-cubic", "lanyard-bbr", "mpich-abi")  # another path, or another ABI
TIMES_AND_SIZES = ("ns", "us", "ms", "s", "B", "s/GB")
MORE_IS_BETTER = ("overlap", "share of the line", "passed")  # of what is neither a rate nor a time
LESS_IS_BETTER = ("wait share", "work slowed", "processor", "ranks wait", "failed", "skipped", "descriptors")


class Standing(NamedTuple):
    """The rows won, lost and level, the geometric mean of the gains, and the best and worst (row, gain)."""

    won: int
    lost: int
    level: int
    mean: float | None
    best: tuple | None
    worst: tuple | None


def direction(row, unit):
    """+1 where more is better, -1 where less is, 0 where neither is."""
    if is_rate(unit):
        return 1
    if unit in TIMES_AND_SIZES:
        return -1
    name = row[0] if isinstance(row, tuple) else str(row)
    for sign, words in ((1, MORE_IS_BETTER), (-1, LESS_IS_BETTER)):
        if any(word in name for word in words):
            return sign
    return 0


def figures(record, key, row):
    """The Summary of a row of a library, or None."""
    if not record.has_samples:
        return record.summaries.get(key, {}).get(row)
    values = record.series.numbers(key, row)
    if not values:
        return None
    found = summary(values)
    return Summary(found["median"], found["low"], found["high"], best(values, record.series.units[row]),
                   found["samples"], ratio_to(record, key, row))


def ratio_to(record, key, row):
    """The first library's samples over those of another one."""
    if key == record.first:
        return None
    columns = (record.series.values.get(one, {}).get(row, []) for one in (record.first, key))
    ratio = paired_ratio(*columns)
    return ratio and Ratio(ratio["median"], ratio["low"], ratio["high"])


def off_path(record, key):
    """Whether the interface of the route did not see what a library sent."""
    return record.series.off_path(key) or record.counted_per_sent.get(key, 1) < proof.LEAST


def rivals(record):
    """The keys of those that the first library is compared with: other MPI libraries, or else Lanyard's other
    paths and ABIs. Raw TCP and UDP are no rivals but bounds."""
    for keys in (MPI_LIBRARIES, OF_LANYARD):
        found = [key for key in record.libraries
                 if key in keys and key != record.first and not off_path(record, key)]
        if found and not is_sweep(record):
            return found
    return []


def is_sweep(record):
    """Whether the series compares values of a setting of Lanyard."""
    return "=" in record.first


def speeds(record):
    """{title: speed} of the other values of a setting: how many times as fast they are as the first value,
    the median over the rows."""
    found = {}
    for key, title in record.libraries.items():
        pairs = [(figures(record, record.first, row), figures(record, key, row), unit)
                 for row, unit in record.series.units.items() if key != record.first and "=" in key]
        ratios = [(it.median / first.median if is_rate(unit) else first.median / it.median)
                  for first, it, unit in pairs if first and it and first.median > 0 and it.median > 0]
        if ratios:
            found[title] = median(ratios)
    return found


def gain(record, row):
    """How many times better the first library is than the best of its rivals, as a Ratio. It is None if
    ratios of the figures have no meaning."""
    if row in record.gains:
        return record.gains[row]
    unit = record.series.units[row]
    ours, key = figures(record, record.first, row), best_rival(record, row)
    if ours is None or key is None or not (is_rate(unit) or unit in TIMES_AND_SIZES):
        return None
    ratio = figures(record, key, row).ratio
    if ratio is None or ratio.median <= 0:
        return None
    if is_rate(unit):
        return ratio
    low, high = (1 / bound if bound > 0 else float("inf") for bound in (ratio.high, ratio.low))
    return Ratio(1 / ratio.median, low, high)


def best_rival(record, row):
    """The key of the rival with the best median, or None."""
    sign = direction(row, record.series.units[row])
    medians = {key: found.median for key in rivals(record) if (found := figures(record, key, row))}
    return max(medians, key=lambda key: sign * medians[key]) if medians and sign else None


def outcome(record, row):
    """+1 for a row that is won, -1 for a lost one, 0 for a level one, None without a comparison."""
    ours, key = figures(record, record.first, row), best_rival(record, row)
    if ours is None or key is None:
        return None
    found = gain(record, row)
    lead = (found.median - 1 if found else
            (ours.median - figures(record, key, row).median) * direction(row, record.series.units[row]))
    return (lead > 0) - (lead < 0)


def standing(record):
    """The Standing of the first library, or None where nothing is compared."""
    outcomes = [found for row in record.series.units if (found := outcome(record, row)) is not None]
    gains = {row: found.median for row in record.series.units
             if (found := gain(record, row)) and found.median > 0}
    if not outcomes:
        return None
    mean = exp(sum(map(log, gains.values())) / len(gains)) if gains else None
    ends = [end(gains, key=gains.get) for end in (max, min)] if gains else []
    extremes = [(row, gains[row]) for row in ends] or [None, None]
    return Standing(*(outcomes.count(sign) for sign in (1, -1, 0)), mean, *extremes)
