"""Makes tables of alternating runs. Used by bench/compare and bench/run."""
import proof
from figures import paired_ratio, summary


def minutes(seconds):
    number = max(1, round(seconds / 60))
    return f"{number} minute" + ("s" if number > 1 else "")


def number(value):
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def with_interval(figures):
    return f"{number(figures['median'])} ({number(figures['low'])} to {number(figures['high'])})"


def spread(values):
    low, high = number(min(values)), number(max(values))
    return low if low == high else f"{low} to {high}"


def ranges(numbers):
    """Returns '1 to 3, 7' for [1, 2, 3, 7]."""
    parts = []
    for value in sorted(set(numbers)):
        if parts and value == parts[-1][1] + 1:
            parts[-1][1] = value
        else:
            parts.append([value, value])
    return ", ".join(f"{low} to {high}" if high > low else f"{low}" for low, high in parts)


def state_line(state, looks, rounds):
    """Describes the machine's state, the looks that show it (some may be None), and the rounds, counted from
    1."""
    taken = [look for look in looks if look]
    words = f"The machine: {state}"
    if taken:
        words += (f"; a line takes {spread([look.line_ns for look in taken])} ns, "
                  f"64 KiB are copied in {spread([look.copy_us for look in taken])} us")
    return f"{words}; rounds {ranges(rounds)}."


def size_name(row):
    if isinstance(row, tuple):
        return f"{row[0]}, {size_name(row[1])}"
    if not isinstance(row, int):
        return str(row)
    for shift, unit in ((20, "MiB"), (10, "KiB")):
        if row >= 1 << shift and row % (1 << shift) == 0:
            return f"{row >> shift} {unit}"
    return f"{row} B"


def best(values, unit):
    """Returns the value that other work disturbed least: the largest rate or the smallest time."""
    return max(values) if is_rate(unit) else min(values)


def is_rate(unit):
    """Returns whether the unit is that of a rate, so that larger is better. Otherwise it is that of a
    time."""
    return unit.endswith("/s")


def marked(title, series, key):
    return f"{title} ({proof.MARK})" if series.off_path(key) else title


def proof_line(series, libraries):
    """Returns a line with the bytes that the route's interface counted for each byte sent, or [] without a
    route."""
    words = [f"{marked(libraries[key].title, series, key)} {number(summary(quotients)['median'])}"
             for key in libraries if (quotients := proof.quotients(series, key))]
    return [f"Bytes on the interface for each byte sent: {', '.join(words)}.  "] if words else []


def grid(series, libraries, first="lanyard"):
    """Returns a table with a line for each figure and a column for each library.

    The columns have medians. The last column compares the best of the others with `first`.
    """
    ours = libraries[first].title if first in libraries else first
    units = sorted(set(series.units.values()))
    rate = is_rate(units[0])
    over = f"{ours} over the best of the others" if rate else f"the best of the others over {ours}"
    lines = [f"### {series.name}", "",
             f"Medians in {'/'.join(units)}; the last column is {over}, by rounds: above 1 it is won.", "",
             "| | " + " | ".join(library.title for library in libraries.values()) +
             (" | ours / best other |" if rate else " | best other / ours |"),
             "|---" * (len(libraries) + 2) + "|"]
    for row in series.units:
        columns = [series.numbers(key, row) for key in libraries]
        cells = [number(summary(values)["median"]) if values else "" for values in columns]
        ratio = best_other(series, first, [key for key in libraries if key != first], row)
        cells.append(with_interval(ratio) if ratio else "")
        lines.append(f"| {size_name(row)} | {' | '.join(cells)} |")
    lines += ["", *versions(series, libraries)]
    for key, words in series.failures.items():
        lines.append(f"{libraries[key].title} failed {len(words)} times: {words[0]}  ")
    return "\n".join(lines) + "\n"


def best_other(series, first, others, row):
    """Returns how many times better `first` is than the best of the others.

    The best of the others is chosen by medians. The result is the ratio by rounds: for a time, the other's
    time divided by that of `first`; for a rate, the rate of `first` divided by the other's. Returns None if
    one of the two has no figure.
    """
    medians = {key: summary(values)["median"] for key in others if (values := series.numbers(key, row))}
    if not medians or not series.numbers(first, row):
        return None
    rate = is_rate(series.units[row])
    fastest = (max if rate else min)(medians, key=medians.get)
    theirs, ours = series.values[fastest][row], series.values[first][row]
    return paired_ratio(ours, theirs) if rate else paired_ratio(theirs, ours)


def versions(series, libraries):
    return [f"{libraries[key].title}: {version}" + "  " for key, version in series.versions.items()]


def table(series, libraries, first):
    """Returns a line for each row and library: the median, its interval, and the ratio first/library by
    rounds."""
    ours = libraries[first].title if first in libraries else first
    lines = [f"| | library | median (95 % interval) | best | unit | {ours} / it | runs |",
             "|---|---|---|---|---|---|---|"]
    for row, unit in series.units.items():
        for key, library in libraries.items():
            values = series.numbers(key, row)
            if not values:
                continue
            ours, its = series.values.get(first, {}).get(row, []), series.values[key][row]
            ratio = paired_ratio(ours, its) if key != first else None
            lines.append(f"| {size_name(row)} | {marked(library.title, series, key)} | "
                         f"{with_interval(summary(values))} | {number(best(values, unit))} | {unit} | "
                         f"{with_interval(ratio) if ratio else ''} | {len(values)} |")
    return lines


def markdown(series, libraries, first="lanyard", picture=None):
    """Returns the table of all rounds. If the machine was in several states, a table for each state follows.

    `picture` is a path from the table's place to the plot of the series."""
    lines = [f"### {series.name}", "", *([f"![{series.name}]({picture})", ""] if picture else []),
             *table(series, libraries, first)]
    lines += ["", *versions(series, libraries), *proof_line(series, libraries)]
    for key, words in series.failures.items():
        lines.append(f"{libraries[key].title} failed {len(words)} times: {words[0]}  ")
    if series.busy and max(series.busy) > 0.10:
        lines.append(f"Other work took up to {max(series.busy):.0%} of the machine before a round; "
                     "read with care.  ")
    states = series.by_state()
    for state, rounds in states.items():
        looks = [look for number in rounds for look in series.looks[number]]
        lines += ["", state_line(state, looks, [number + 1 for number in rounds])]
        if len(states) > 1:
            lines += ["", *table(series.of_rounds(rounds), libraries, first)]
    return "\n".join(lines) + "\n"
