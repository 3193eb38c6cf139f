"""Defines the kinds of goals, and how each kind judges a measured series. The goals are in goals.py.

The figures of a series are compared by functions such as ratio_to, which take (series, own library, row).
"""
from math import exp, log

from figures import paired_difference, paired_ratio, summary
from tables import best_other, marked, number, size_name, with_interval

# Verdicts from good to bad. If the 95 % interval of a figure contains the bound, the run has not decided, and
# the verdict says that only the median decides.
VERDICTS = ("kept", "kept by the median", "missed by the median", "missed")


def verdict(figures, bound, sign):
    """Returns one of VERDICTS for a median and its interval. A sign of +1 means that larger figures are
    better."""
    good, bad = ("high", "low") if sign > 0 else ("low", "high")
    kept = {name: (figures[name] - bound) * sign >= 0 for name in ("median", good, bad)}
    if kept["median"]:
        return "kept" if kept[bad] else "kept by the median"
    return "missed by the median" if kept[good] else "missed"


class Goal:
    """A goal for one row: `row` of the series `part` must be at most (or at least) a bound.

    The bound is a fixed value, or `factor` times the best figure of some other libraries. The libraries
    `beside` are shown but do not affect the bound, because they use another path.
    """

    own = "lanyard"

    def __init__(self, part, row, sentence, sign, fixed=None, others=("mpich", "impi", "openmpi"), factor=1,
                 beside=()):
        self.part = part
        self.row = row
        self.sentence = sentence
        self.sign = sign  # +1: larger is better
        self.fixed = fixed
        self.others = others
        self.factor = factor
        self.beside = beside

    def judge(self, series, libraries):
        """Returns (ours, bound, words, verdict), each as a string for the table."""
        ours = series.numbers("lanyard", self.row)
        if not ours:
            return "no number", "", "", "not measured"
        ours = summary(ours)
        shown = {key: summary(values)["median"] for key in (*self.others, *self.beside)
                 if (values := series.numbers(key, self.row))}
        others = {key: value for key, value in shown.items()
                  if key in self.others and not series.off_path(key)}
        unit = series.units[self.row]
        words = ", ".join(f"{marked(title(key, libraries), series, key)} {number(value)}"
                          for key, value in shown.items())
        if self.fixed is not None:
            bound = self.fixed
        elif others:
            bound = self.factor * (max(others.values()) if self.sign > 0 else min(others.values()))
        else:
            return with_interval(ours) + " " + unit, "", "", "nothing to compare with"
        judgement = verdict(ours, bound, self.sign)
        return f"{with_interval(ours)} {unit}", f"{number(bound)} {unit}", words, judgement


class Each:
    """A goal for each row that `rows` accepts: the figure that `compare` returns must keep the bound.

    The row with the worst verdict is shown. If several rows have the worst verdict, the row with the worst
    figure among them is shown.
    """

    def __init__(self, part, rows, sentence, sign, bound, compare, unit="", own="lanyard"):
        self.part = part
        self.rows = rows
        self.sentence = sentence
        self.sign = sign
        self.bound = bound
        self.compare = compare
        self.unit = unit
        self.own = own

    def judge(self, series, _libraries):
        found = [(row, figures) for row in series.units
                 if self.rows(row) and (figures := self.compare(series, self.own, row))]
        bound = f"{number(self.bound)}{self.unit}"
        if not found:
            return "no number", bound, "", "not measured"
        verdicts = {row: verdict(figures, self.bound, self.sign) for row, figures in found}
        row, worst = max(found, key=lambda pair: (VERDICTS.index(verdicts[pair[0]]),
                                                  -pair[1]["median"] * self.sign))
        where = f" at {size_name(row)}" if len(found) > 1 else ""
        return f"{with_interval(worst)}{self.unit}{where}", bound, "", verdicts[row]


class GeometricMean:
    """A goal for a whole series: the geometric mean, over all figures, of the gain over the best other
    library.

    The gain says how many times better Lanyard is, by rounds.
    """

    own = "lanyard"

    def __init__(self, part, sentence, bound, rows, others=("mpich", "impi", "openmpi")):
        self.part = part
        self.sentence = sentence
        self.bound = bound
        self.rows = rows
        self.others = others

    def gains(self, series, libraries):
        """Returns {row: gain} of the rows that have one."""
        others = [key for key in self.others if key in libraries]
        return {row: ratio["median"] for row in series.units
                if self.rows(row) and (ratio := best_other(series, "lanyard", others, row))}

    def judge_gains(self, gains, of=""):
        """Judges these gains. `of`: words on where they are from."""
        mean = geometric_mean(gains)
        words = f"{sum(gain >= 1 for gain in gains)} of {len(gains)} cells are won"
        judgement = "kept" if mean >= self.bound else "missed"
        return f"{number(mean)}{of}", f"{number(self.bound)}", words, judgement

    def judge(self, series, libraries):
        if gains := self.gains(series, libraries):
            return self.judge_gains(list(gains.values()))
        return "no number", f"{number(self.bound)}", "", "not measured"


class SmallestMean(GeometricMean):
    """A goal for each benchmark of a series whose rows are (benchmark, size): the geometric mean of its gains
    over the best other library must keep the bound. The benchmark with the smallest mean is shown.
    """

    def judge(self, series, libraries):
        benchmarks = {}
        for row, gain in self.gains(series, libraries).items():
            benchmarks.setdefault(row[0], []).append(gain)
        if not benchmarks:
            return super().judge(series, libraries)
        name = min(benchmarks, key=lambda name: geometric_mean(benchmarks[name]))
        return self.judge_gains(benchmarks[name], f" of {name}")


def geometric_mean(values):
    return exp(sum(map(log, values)) / len(values))


OF_ROUTES = {"tcp": "raw TCP", "udp": "raw UDP", "lanyard-tcp": "Lanyard on TCP"}


def title(key, libraries):
    return OF_ROUTES.get(key) or (libraries[key].title if key in libraries else key)


def itself(series, own, row):
    values = series.numbers(own, row)
    return summary(values) if values else None


def ratio_to(other):
    return lambda series, own, row: paired_ratio(*columns(series, (own, row), (other, row)))


def ratio_to_best(series, own, row):
    """Returns our time divided by that of the other library with the smallest median, by rounds."""
    others = {key: summary(values)["median"] for key in series.values
              if key != own and (values := series.numbers(key, row))}
    return paired_ratio(*columns(series, (own, row), (min(others, key=others.get), row))) if others else None


def times_the_best(series, own, row):
    return best_other(series, own, [key for key in series.values if key != own], row)


def more_than(other):
    return lambda series, own, row: paired_difference(*columns(series, (own, row), (other, row)))


def ratio_to_next_smaller(series, own, row):
    smaller = [size for size in series.units if size < row]
    return paired_ratio(*columns(series, (own, row), (own, max(smaller)))) if smaller else None


def columns(series, *places):
    return [series.values.get(key, {}).get(row, []) for key, row in places]


def named(*names):
    return lambda row: (row[0] if isinstance(row, tuple) else row) in names


def ratio_to_row(other):
    return lambda series, own, row: paired_ratio(*columns(series, (own, row), (own, other)))


def sizes_from(least, name=None):
    """Returns a function that accepts the rows of sizes from `least` on.

    If rows have a quantity, it must be `name`.
    """
    def accepts(row):
        quantity, size = row if isinstance(row, tuple) else (None, row)
        return quantity == name and isinstance(size, int) and size >= least
    return accepts


def eight_bytes(row):
    return row == 8


def any_row(_row):
    return True
