"""Medians, ratios and their intervals. Pure functions over lists of numbers; standard library only."""
from math import comb
from statistics import median


def interval(values):
    """The 95 % interval (low, high) of the median from order statistics. Below six values it is the range.

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
    """The median of the ratios ours/theirs by round, with its interval. Incomplete rounds are left out."""
    ratios = [a / b for a, b in zip(ours, theirs) if a is not None and b is not None and b > 0]
    return summary(ratios) if ratios else None


def paired_difference(ours, theirs):
    """The same for the differences ours - theirs."""
    differences = [a - b for a, b in zip(ours, theirs) if a is not None and b is not None]
    return summary(differences) if differences else None
