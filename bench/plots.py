"""Draws alternating runs; used by bench/compare and bench/run.

There is a panel for each quantity, over sizes or over the loss of a link. If raw TCP ran beside the
libraries, latencies are also drawn as throughput, as NetPIPE does, and a last panel shows how much of TCP's
speed each library loses.
"""
import itertools

from figures import paired_ratio, summary
from measure import Loss
from peers import say
from tables import size_name

COLOURS = {"lanyard": "#c0392b", "mpich": "#2c6fbb", "impi": "#2e8b57", "openmpi": "#d68910",
           "impi-wait": "#7fbf9b", "tcp": "#333333", "udp": "#888888", "lanyard-tcp": "#8e5aa8",
           "lanyard-cubic": "#8e5aa8", "lanyard-bbr": "#2c6fbb"}
COLUMNS = 3
LABELS = 6
# for the loss, which is 1 minus a ratio, the bounds of the ratio are exchanged
OPPOSITE = {"median": "median", "low": "high", "high": "low"}
# per cent; if a library is faster than raw TCP by more than this, it was measured in a bad minute
LOSS_SHOWN = -50


class Panel:
    """One quantity.

    `curves` is {library's key: [(x, figures)]}. x is a size, a Loss, or, for a row without either, the row's
    position.
    """

    def __init__(self, title, unit, curves, names=(), floor=None):
        self.title = title
        self.unit = unit
        self.curves = curves
        self.names = names  # names of the positions, if x is neither size nor loss
        self.floor = floor  # values below this are not shown

    def draw(self, axes, libraries):
        for place, (key, points) in enumerate(self.curves.items()):
            middle = [f["median"] for _, f in points]
            spread = [[f["median"] - f["low"] for _, f in points],
                      [f["high"] - f["median"] for _, f in points]]
            where = [x + 0.12 * place if self.names else x for x, _ in points]
            axes.errorbar(where, middle, yerr=spread, marker="o", markersize=4, label=libraries[key].title,
                          color=COLOURS.get(key), linestyle="none" if self.names else "-")
        xs = sorted({x for points in self.curves.values() for x, _ in points})
        if self.names:
            axes.set_xticks(range(len(self.names)), self.names)
        elif isinstance(xs[0], Loss):
            least = min((x for x in xs if x > 0), default=1)
            axes.set_xscale("symlog", linthresh=least)
            axes.set_xticks(xs, [f"{x:g} %" for x in xs])
            axes.set_xlabel("packets lost")
        else:
            sizes = xs
            shown = sizes[:: -(-len(sizes) // LABELS)]
            axes.set_xscale("log", base=2)
            axes.set_xticks(shown, map(size_name, shown))
        if self.unit != "%" and all(f["low"] > 0 for points in self.curves.values() for _, f in points):
            axes.set_yscale("log")
        if self.floor is not None:
            axes.set_ylim(bottom=max(self.floor, axes.get_ylim()[0]))
        axes.set_ylabel(self.unit)
        axes.set_title(self.title, fontsize=10)
        axes.minorticks_off()
        axes.grid(True, alpha=0.3)


def place_of(row):
    """Returns (panel, size) of a row.

    Rows that are sizes share a panel. Rows with a name and a size have one panel for each name.
    """
    return row if isinstance(row, tuple) else ("", row) if isinstance(row, int) else (None, row)


def curves(series, libraries, rows, convert=lambda value, size: value):
    """Returns {key: [(x, figures)]} for the libraries that have figures. `rows` contains pairs (x, row)."""
    all_points = {}
    for key in libraries:
        points = [(x, summary([convert(value, x) for value in values])) for x, row in rows
                  if (values := series.numbers(key, row))]
        if points:
            all_points[key] = points
    return all_points


def losses(series, libraries, rows):
    """Returns the loss of each library in per cent of raw TCP's speed, by rounds."""
    all_points = {}
    for key in libraries:
        points = []
        for size, row in rows:
            mine, raw = (series.values.get(one, {}).get(row, []) for one in (key, "tcp"))
            ratio = paired_ratio(mine, raw) if series.units[row].endswith("/s") else paired_ratio(raw, mine)
            if ratio:
                points.append((size, {name: 100 * (1 - ratio[other]) for name, other in OPPOSITE.items()}))
        if points and key != "tcp":
            all_points[key] = points
    return all_points


def panels(series, libraries):
    groups = {}
    for row in series.units:
        name, size = place_of(row)
        groups.setdefault(name, []).append((size, row))
    for name, rows in groups.items():
        unit = series.units[rows[0][1]]
        if name is None:
            numbered = [(place, row) for place, (_, row) in enumerate(rows)]
            units = ", ".join(dict.fromkeys(series.units[row] for _, row in rows))
            yield Panel("", units, curves(series, libraries, numbered), [size_name(row) for _, row in rows])
            continue
        yield Panel(name, unit, curves(series, libraries, rows))
        if name == "" and "tcp" in series.values:
            if unit == "us":
                positive = [(size, row) for size, row in rows if size > 0]
                yield Panel("throughput of the ping-pong", "Mbit/s",
                            curves(series, libraries, positive, lambda us, size: 8 * size / us))
            yield Panel("loss against raw TCP", "%", losses(series, libraries, rows), floor=LOSS_SHOWN)


def plot(series, libraries, path):
    """Draws medians with their intervals. Draws nothing if matplotlib is missing."""
    try:
        import matplotlib
    except ImportError:
        say(f"{path} is not drawn: matplotlib is missing; 'make bench' installs it, "
            "then use .venv/bin/python")
        return
    matplotlib.use("Agg")
    # These settings make the files small. The same numbers always give the same file.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "lanyard"})
    from matplotlib import pyplot

    drawn = [panel for panel in panels(series, libraries) if panel.curves]
    columns = min(len(drawn), COLUMNS)
    lines = -(-len(drawn) // columns)
    width, height = (7, 4.5) if len(drawn) == 1 else (5 * columns, 3.6 * lines)
    figure, grid = pyplot.subplots(lines, columns, figsize=(width, height), dpi=120, squeeze=False,
                                   layout="constrained")
    for axes, panel in itertools.zip_longest(grid.flat, drawn):
        if panel:
            panel.draw(axes, libraries)
        else:
            axes.set_axis_off()
    grid.flat[0].legend(fontsize=8)
    figure.suptitle(series.name)
    figure.savefig(path, metadata={"Date": None} if str(path).endswith(".svg") else None)
    pyplot.close(figure)
