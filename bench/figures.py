"""Medians, ratios and their intervals. Pure functions over lists of numbers; nothing but the standard library."""
from math import comb
from statistics import median


def interval(values):
    """95 % interval of the median from order statistics: (low, high), or the whole range below six values.

    The number of values under the true median is binomial(n, 1/2) whatever the distribution, so the k-th smallest and
    k-th largest enclose it with probability 1 - 2 P(B < k); k is the largest that leaves 95 %.
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
    """Median of the ratios ours/theirs of the same round, with its interval; rounds that one of them lacks are left out."""
    ratios = [a / b for a, b in zip(ours, theirs) if a is not None and b is not None and b > 0]
    return summary(ratios) if ratios else None


def paired_difference(ours, theirs):
    """The same of the differences ours - theirs."""
    differences = [a - b for a, b in zip(ours, theirs) if a is not None and b is not None]
    return summary(differences) if differences else None
