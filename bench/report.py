"""Tables and plots of alternating runs; used by bench/compare and bench/run."""
from figures import paired_ratio, summary
from peers import say

COLOURS = {"lanyard": "#c0392b", "mpich": "#2c6fbb", "impi": "#2e8b57", "openmpi": "#d68910",
           "impi-wait": "#7fbf9b"}


def minutes(seconds):
    number = max(1, round(seconds / 60))
    return f"{number} minute" + ("s" if number > 1 else "")


def number(value):
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def with_interval(figures):
    return f"{number(figures['median'])} ({number(figures['low'])} to {number(figures['high'])})"


def size_name(row):
    if not isinstance(row, int):
        return str(row)
    for shift, unit in ((20, "MiB"), (10, "KiB")):
        if row >= 1 << shift and row % (1 << shift) == 0:
            return f"{row >> shift} {unit}"
    return f"{row} B"


def best(values, unit):
    """The value least disturbed by other work: the largest of what is a rate, the smallest of what is a time."""
    return max(values) if unit.endswith("/s") else min(values)


def markdown(series, libraries, first="lanyard"):
    """A table: a line for each row and library with the median, its interval, and the ratio first/library by rounds."""
    lines = [f"### {series.name}", "",
             f"| | library | median (95 % interval) | best | unit | {libraries[first].title if first in libraries else first} / it | runs |",
             "|---|---|---|---|---|---|---|"]
    for row, unit in series.units.items():
        for key, library in libraries.items():
            values = series.numbers(key, row)
            if not values:
                continue
            ratio = paired_ratio(series.values.get(first, {}).get(row, []), series.values[key][row]) if key != first else None
            lines.append(f"| {size_name(row)} | {library.title} | {with_interval(summary(values))} | "
                         f"{number(best(values, unit))} | {unit} | "
                         f"{with_interval(ratio) if ratio else ''} | {len(values)} |")
    lines += [""] + [f"{libraries[key].title}: {version}" + "  " for key, version in series.versions.items()]
    for key, words in series.failures.items():
        lines.append(f"{libraries[key].title} failed {len(words)} times: {words[0]}  ")
    if series.busy and max(series.busy) > 0.10:
        lines.append(f"Other work took up to {max(series.busy):.0%} of the machine before a round; read with care.  ")
    return "\n".join(lines) + "\n"


def plot(series, libraries, path):
    """Medians with their intervals: over the size where rows are sizes, else as points side by side."""
    try:
        import matplotlib
    except ImportError:
        say(f"{path} is not drawn: matplotlib is missing; 'make bench' installs it, then use .venv/bin/python")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5), dpi=120)
    rows = list(series.units)
    over_size = all(isinstance(row, int) for row in rows) and len(rows) > 1
    for place, (key, library) in enumerate(libraries.items()):
        known = [row for row in rows if series.numbers(key, row)]
        if not known:
            continue
        figures = [summary(series.numbers(key, row)) for row in known]
        middle = [f["median"] for f in figures]
        spread = [[f["median"] - f["low"] for f in figures], [f["high"] - f["median"] for f in figures]]
        where = known if over_size else [rows.index(row) + 0.12 * place for row in known]
        axes.errorbar(where, middle, yerr=spread, marker="o", capsize=3, label=library.title, color=COLOURS.get(key),
                      linestyle="-" if over_size else "none")
    if over_size:
        axes.set_xscale("log", base=2)
        axes.set_xlabel("bytes")
    else:
        axes.set_xticks(range(len(rows)), [size_name(row) for row in rows])
    axes.set_yscale("log")
    axes.set_ylabel(", ".join(dict.fromkeys(series.units.values())))
    axes.set_title(series.name)
    axes.grid(True, which="both", alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)
