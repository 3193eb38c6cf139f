"""Converts the pairs of `bench/compare --ours` to a series for bench/results, whose libraries are A and B."""
from types import SimpleNamespace

from measure import Series

NAME, SECTION = "before-after", "shared memory"


def series_of(runs):
    """Returns a series with one sample for each figure, build and round.

    The looks at the machine are those before the first and after the last pair of a round.
    """
    series = Series("before and after, 2 ranks")
    for pair in runs.pairs:
        for key, rows in (("A", pair.a), ("B", pair.b)):
            named = {(f"{pair.cell.path} {pair.cell.metric}", size): figure for size, figure in rows.items()}
            series.add(SimpleNamespace(key=key), pair.round - 1, runs.versions.get(key), named)
    series.busy = runs.busy
    series.looks = [looks_of_round(runs.pairs, number) for number in range(1, len(runs.busy) + 1)]
    for words in (one for all_words in runs.failures.values() for one in all_words):
        key, _, rest = words.partition(": ")
        series.failures.setdefault(key, []).append(rest)
    return series


def looks_of_round(pairs, number):
    of_round = [pair for pair in pairs if pair.round == number]
    return (of_round[0].before, of_round[-1].after) if of_round else (None, None)


def libraries_of(a, b):
    return {build.key: SimpleNamespace(title=str(build.home)) for build in (a, b)}
