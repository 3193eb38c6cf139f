"""Prints the results of `bench/compare --ours`: tables of two builds, and all pairs as JSON."""
import machine
import machine_state
from tables import number, size_name, state_line, with_interval
from verdicts import FEWEST, LEVEL, SLOWER, TOLERANCE, TOO_FEW, slower_ones

BUSY = 0.10  # share of the machine


def looks_of(pairs):
    return [look for pair in pairs for look in (pair.before, pair.after)]


def state_of(group):
    """Describes the state of the machine, the measurements that show it, and the rounds in which it was
    observed."""
    state = group.state or group.pairs[0].state()  # if there is only one group, all its pairs have one state
    return state_line(state, looks_of(group.pairs), [pair.round for pair in group.pairs])


def columns(rows):
    """Returns the lines of a Markdown table, padded so that it is readable in a terminal too."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
    return [lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]]


def group_table(group, groups):
    title = "In this state" if group.state else "All pairs"
    lines = [f"### {title}", ""]
    if group.state or len(groups) == 1:
        lines += [state_of(group), ""]
    rows = [["path", "", "size", "A", "B", "unit", "time B/A (95 % interval)", "pairs", "verdict"]]
    for row in group.rows:
        figures = [number(row.a), number(row.b), row.unit, with_interval(row.ratio)]
        rows.append([row.cell.path, row.cell.metric, size_name(row.size), *figures, str(row.ratio["samples"]),
                     row.verdict])
    return "\n".join([*lines, *columns(rows), ""])


def count_table(counts):
    """Returns one line for each call that is not level, and the number of calls that are level."""
    rows = [["instructions of", "with", "A", "B", "B/A", "verdict"]]
    for count in counts:
        figures = [f"{count.a:.0f}", f"{count.b:.0f}", f"{count.ratio:.3f}"]
        rows += [[count.call, count.variant, *figures, count.verdict]] if count.verdict != LEVEL else []
    level = sum(count.verdict == LEVEL for count in counts)
    ratios = f"{min(count.ratio for count in counts):.3f} to {max(count.ratio for count in counts):.3f}"
    words = f"{level} of {len(counts)} counts are level, within {TOLERANCE:.0%}; B/A is {ratios}."
    return "\n".join(["### Instructions", "", words, "", *([*columns(rows), ""] if len(rows) > 1 else [])])


def heading(a, b, runs, groups):
    lines = ["# B beside A", ""]
    lines += [", ".join([f"{build.key}: {build.home}", *filter(None, [runs.versions.get(build.key)])]) + "  "
              for build in (a, b)]
    lines += [f"{machine.describe()}  "]
    if groups:
        lines += ["A and B are medians. A time above 1 means that B is slower. A verdict is given where the "
                  f"whole interval is {TOLERANCE:.0%} beyond 1, from {FEWEST} pairs on. Where figures "
                  "scatter, one in forty may be called slower by chance: measure it again.  "]
    if max(runs.busy, default=0) > BUSY:
        lines += [f"Other work took up to {max(runs.busy):.0%} of the machine before a round; "
                  "read with care.  "]
    return "\n".join([*lines, ""])


def failure_lines(failures, pairs):
    """Returns (a line for each failure with its first message; whether some cell has no figure at all)."""
    measured = {pair.cell for pair in pairs}
    lines = [f"{cell.metric} on {cell.path} failed {len(words)} times"
             f"{'' if cell in measured else ' and has no figure'}; {words[0]}"
             for cell, words in failures.items()]
    return lines, any(cell not in measured for cell in failures)


def ending(groups, counts):
    """Returns the last lines of the report: the figures in which B is slower."""
    rows, more = slower_ones(groups, counts)
    lines = [f"{SLOWER}: {row.cell.metric} of {size_name(row.size)} on {row.cell.path}"
             f"{f' ({state})' if state else ''}: {with_interval(row.ratio)}" for state, row in rows]
    lines += [f"more instructions: {count.call} ({count.variant}): {count.ratio:.3f}" for count in more]
    if lines:
        return lines
    judged = counts or any(row.verdict != TOO_FEW for group in groups for row in group.rows)
    return ["In nothing measured here is B slower than A." if judged else
            f"There is no verdict: it needs {FEWEST} pairs of a figure."]


def whole(a, b, runs, groups, counts, problems):
    parts = [heading(a, b, runs, groups), *(group_table(group, groups) for group in groups)]
    parts += [count_table(counts)] if counts else []
    return "\n".join([*parts, *problems, *ending(groups, counts)])


def row_json(row):
    return {"path": row.cell.path, "metric": row.cell.metric, "bytes": row.size, "unit": row.unit, "a": row.a,
            "b": row.b, "time_ratio": row.ratio, "verdict": row.verdict}


def pair_json(pair):
    values = [{"bytes": size, "unit": unit, "a": value, "b": pair.b[size][0]}
              for size, (value, unit) in pair.a.items() if size in pair.b]
    return {"round": pair.round, "path": pair.cell.path, "metric": pair.cell.metric, "first": pair.first,
            "state": pair.state(), "before": pair.before and pair.before._asdict(),
            "after": pair.after and pair.after._asdict(), "values": values}


def as_json(a, b, runs, groups, counts):
    return {"builds": {build.key: {"prefix": str(build.home), "version": runs.versions.get(build.key, "")}
                       for build in (a, b)},
            "machine": machine.describe(),
            "bounds": {"long_line_ns": machine_state.LONG_LINE_NS,
                       "fast_copy_us": machine_state.FAST_COPY_US,
                       "slow_copy_us": machine_state.SLOW_COPY_US},
            "busy_share_before_each_round": [round(share, 3) for share in runs.busy],
            "groups": [{"state": group.state or "all", "rows": [row_json(row) for row in group.rows]}
                       for group in groups],
            "instructions": [count._asdict() for count in counts],
            "failures": [{"metric": cell.metric, "path": cell.path, "words": words}
                         for cell, words in runs.failures.items()],
            "pairs": [pair_json(pair) for pair in runs.pairs]}
