"""Compares the first library of a series with the others: which figures it wins, and by how much.

Pure functions of records (record.py) with samples or with summaries. A gain above 1 is won. For a time, the
gain is the best other library's time divided by the first library's. For a rate, it is the first library's
rate divided by the best other library's.
"""
from math import exp, log
from statistics import median
from typing import NamedTuple

import proof
from figures import paired_ratio, summary
from record import Ratio, Summary
from tables import best, is_rate

MPI_LIBRARIES = ("mpich", "impi", "impi-wait", "openmpi")
# Lanyard on another path or with another ABI
OF_LANYARD = ("lanyard-tcp", "lanyard-cubic", "lanyard-bbr", "mpich-abi")
TIMES_AND_SIZES = ("ns", "us", "ms", "s", "B", "s/GB")
# larger is better for these figures, which are neither rates nor times
MORE_IS_BETTER = ("overlap", "share of the line", "passed")
LESS_IS_BETTER = ("wait share", "work slowed", "processor", "ranks wait", "failed", "skipped", "descriptors")


class Standing(NamedTuple):
    """The numbers of rows won, lost and level, the geometric mean of the gains, and the best and worst (row,
    gain)."""

    won: int
    lost: int
    level: int
    mean: float | None
    best: tuple | None
    worst: tuple | None


def direction(row, unit):
    """Returns +1 if larger figures are better, -1 if smaller figures are better, and 0 otherwise."""
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
    """Returns the Summary of a row of a library, or None."""
    if not record.has_samples:
        return record.summaries.get(key, {}).get(row)
    values = record.series.numbers(key, row)
    if not values:
        return None
    found = summary(values)
    return Summary(found["median"], found["low"], found["high"], best(values, record.series.units[row]),
                   found["samples"], ratio_to(record, key, row))


def ratio_to(record, key, row):
    """Returns the ratios of the first library's samples to those of another library."""
    if key == record.first:
        return None
    columns = (record.series.values.get(one, {}).get(row, []) for one in (record.first, key))
    ratio = paired_ratio(*columns)
    return ratio and Ratio(ratio["median"], ratio["low"], ratio["high"])


def off_path(record, key):
    """Returns whether the interface of the route did not count the bytes that a library sent."""
    return record.series.off_path(key) or record.counted_per_sent.get(key, 1) < proof.LEAST


def rivals(record):
    """Returns the keys of the libraries with which the first library is compared.

    These are other MPI libraries. If there are none, they are Lanyard's other paths and ABIs. Raw TCP and UDP
    are not included, because they are bounds.
    """
    for keys in (MPI_LIBRARIES, OF_LANYARD):
        found = [key for key in record.libraries
                 if key in keys and key != record.first and not off_path(record, key)]
        if found and not is_sweep(record):
            return found
    return []


def is_sweep(record):
    """Returns whether the series compares values of a setting of Lanyard."""
    return "=" in record.first


def speeds(record):
    """Returns {title: speed} for the other values of a setting.

    The speed says how many times as fast Lanyard is as with the first value. It is the median over the rows.
    """
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
    """Returns how many times better the first library is than the best of its rivals, as a Ratio.

    Returns None if ratios of the figures have no meaning.
    """
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
    """Returns the key of the rival with the best median, or None."""
    sign = direction(row, record.series.units[row])
    medians = {key: found.median for key in rivals(record) if (found := figures(record, key, row))}
    return max(medians, key=lambda key: sign * medians[key]) if medians and sign else None


def outcome(record, row):
    """Returns +1 if the row is won, -1 if it is lost, 0 if it is level, and None without a comparison."""
    ours, key = figures(record, record.first, row), best_rival(record, row)
    if ours is None or key is None:
        return None
    found = gain(record, row)
    lead = (found.median - 1 if found else
            (ours.median - figures(record, key, row).median) * direction(row, record.series.units[row]))
    return (lead > 0) - (lead < 0)


def standing(record):
    """Returns the Standing of the first library, or None if nothing is compared."""
    outcomes = [found for row in record.series.units if (found := outcome(record, row)) is not None]
    gains = {row: found.median for row in record.series.units
             if (found := gain(record, row)) and found.median > 0}
    if not outcomes:
        return None
    mean = exp(sum(map(log, gains.values())) / len(gains)) if gains else None
    ends = [end(gains, key=gains.get) for end in (max, min)] if gains else []
    extremes = [(row, gains[row]) for row in ends] or [None, None]
    return Standing(*(outcomes.count(sign) for sign in (1, -1, 0)), mean, *extremes)
