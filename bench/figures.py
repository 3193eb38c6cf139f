"""Computes medians, ratios and their intervals. Pure functions of lists of numbers; standard library only."""
from math import comb
from statistics import median


def interval(values):
    """Returns the 95 % interval (low, high) of the median from order statistics.

    With fewer than six values, the interval is the range of all values.

    The number of values below the true median is binomial(n, 1/2) for any distribution. The k-th smallest and
    the k-th largest value therefore enclose the median with probability 1 - 2 P(B < k), and k is the largest
    value for which this is at least 95 %.
    """
    ordered = sorted(values)
    n = len(ordered)
    below, k = 0.0, 0
    while k < n // 2 and 2 * (below + comb(n, k) / 2**n) <= 0.05:
        below += comb(n, k) / 2**n
        k += 1
    k = max(k, 1)
    return ordered[k - 1], ordered[n - k]


def summary(values):
    low, high = interval(values)
    return {"median": median(values), "low": low, "high": high, "samples": len(values)}


def paired_ratio(ours, theirs):
    """Returns the median of the ratios ours/theirs by round, with its interval. Incomplete rounds are left
    out."""
    ratios = [a / b for a, b in zip(ours, theirs) if a is not None and b is not None and b > 0]
    return summary(ratios) if ratios else None


def paired_difference(ours, theirs):
    """Returns the median of the differences ours - theirs by round, with its interval."""
    differences = [a - b for a, b in zip(ours, theirs) if a is not None and b is not None]
    return summary(differences) if differences else None
