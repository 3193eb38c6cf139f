"""Makes the tables of bench/RESULTS.md from the files of bench/results. Used by page.py."""
import re
from types import SimpleNamespace

import goals
import verdicts
from figures import summary
from standing import figures, gain, is_sweep, off_path, rivals, speeds, standing
from tables import number, size_name, with_interval

FEW = 14  # figures on one line
LIBRARIES = {"mpich": "MPICH", "impi": "Intel MPI", "openmpi": "Open MPI"}
VERDICTS = (*reversed(goals.VERDICTS),)  # the missed ones first


def table(heads, rows):
    """Returns the lines of a table."""
    return ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|",
            *("| " + " | ".join(row) + " |" for row in rows)]


def distinct(values):
    """Returns each value once, in order, without values that are not known."""
    return list(dict.fromkeys(value for value in values if value))


def days(records):
    """Returns the days on which these records were taken, such as '2026-11-22 to 2026-11-23'."""
    found = sorted({when.split()[0] for record in records for when in (record.begun, record.ended) if when})
    return " to ".join(dict.fromkeys((found[0], found[-1]))) if found else "not known"


def groups(records, commands):
    """Returns a line for each group: the command that measures it, the commits, the time, and the
    processor."""
    rows = []
    for group, command in commands.items():
        of_group = [record for record in records.values() if record.group == group]
        commits = distinct(record.commit for record in of_group)
        processors = distinct(record.machine.get("processor") for record in of_group)
        rows.append([group, f"`{command}`", ", ".join(commits) or "not known", days(of_group),
                     ", ".join(processors) or "not known"])
    return table(["group", "command", "commits", "taken", "processor"], rows)


def machines(records):
    """Returns an item of a list: the processors, with the known facts about their machines."""
    known, kernels = {}, {}
    for record in records.values():
        facts, processor = record.machine, record.machine.get("processor")
        if processor and len(facts) > len(known.get(processor, ())):
            known[processor] = facts
        if "kernel" in facts:
            kernels.setdefault(processor, set()).add(facts["kernel"])
    words = [f"{processor} ({machine_words(facts, kernels.get(processor, ()))})"
             for processor, facts in known.items()]
    return ["- Machines: " + "; ".join(words)]


def machine_words(facts, kernels):
    words = [f"{facts['processors']} processors" if "processors" in facts else "",
             "virtual machine" if facts.get("virtual") else "", facts.get("quota", ""),
             f"{facts['memory_gib']} GiB" if "memory_gib" in facts else "", facts.get("system", ""),
             f"kernel {' and '.join(sorted(kernels))}" if kernels else ""]
    return ", ".join(filter(None, words)) or "nothing else is known"


def versions(records):
    """Returns an item of a list, such as 'MPICH 5.0.2, Intel MPI 2021.19.0'."""
    words = []
    for key, title in LIBRARIES.items():
        texts = distinct(record.series.versions.get(key) for record in records.values())
        numbers = distinct(found[0] for text in texts if (found := re.search(r"\d+(\.\d+)+", text)))
        words += [f"{title} {' and '.join(numbers)}"] if numbers else []
    return ["- Libraries: " + ", ".join(words)]


def judged_goals(records, stored):
    """Yields (goal, Lanyard's figure, bound, others, verdict) for every goal.

    If the goal's series has samples, it is judged again. Otherwise the verdict from the time of the
    measurement is used.
    """
    for goal in stored:
        if not records[goal["series"]].has_samples:
            yield [goal[name] for name in ("goal", "ours", "bound", "others", "verdict")]
    for record in records.values():
        if record.has_samples:
            libraries = {key: SimpleNamespace(title=title) for key, title in record.libraries.items()}
            libraries.setdefault("lanyard", SimpleNamespace(title="Lanyard"))
            for goal, *words in goals.judged({record.name: record.series}, libraries):
                yield [goal.sentence, *words]


def goal_table(records, stored):
    """Returns all goals, with the missed goals first."""
    rows = list(judged_goals(records, stored))

    def rank(row):
        return VERDICTS.index(row[-1]) if row[-1] in VERDICTS else -1
    heads = ["goal", "Lanyard, median (95 % interval)", "bound", "the others", "verdict"]
    return table(heads, sorted(rows, key=rank))


def goal_counts(records, stored):
    """Returns one line such as '88 goals: 59 kept, 21 kept by the median, ...'."""
    verdicts = [row[-1] for row in judged_goals(records, stored)]
    counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in goals.VERDICTS)
    return [f"{len(verdicts)} goals: {counts}."]


def link(record):
    return f"[{record.name}](results/{record.name}.json)"


def series_table(records):
    """Returns a line for each series: the figures that Lanyard wins and loses.

    If there is nothing to compare with, the line has the figures themselves. Series that follow each other
    and try the same settings share a line.
    """
    rows = []
    for alike in series_alike(records):
        record = alike[0]
        if len(alike) > 1:
            rows.append([", ".join(map(link, alike)), listed(record.ranks for record in alike),
                         *[""] * 4,
                         words_of(*alike), listed(record.commit for record in alike)])
            continue
        found = standing(record)
        counts = [str(found.won), str(found.lost), str(found.level)] if found else [""] * 3
        mean = number(found.mean) if found and found.mean else ""
        rows.append([link(record) + beside(record), str(record.ranks or ""), *counts, mean,
                     ends(found) if found else words_of(record), record.commit or ""])
    heads = ["series", "ranks", "won", "lost", "level", "mean gain", "best and worst gain, or figures",
             "commit"]
    return table(heads, rows)


def series_alike(records):
    """Returns lists of one series, or of series that follow each other and try the same settings."""
    lists = []
    for record in records:
        alike = lists and is_sweep(record) and is_sweep(lists[-1][0])
        if alike and record.libraries == lists[-1][0].libraries:
            lists[-1].append(record)
        else:
            lists.append([record])
    return lists


def listed(values):
    """Returns the different values, such as '2, 4'."""
    return ", ".join(str(value) for value in distinct(values))


def beside(record):
    """Returns what Lanyard is compared with, or '' if this is the other libraries."""
    keys = rivals(record)
    return "" if not keys or set(keys) & set(LIBRARIES) else f" beside {others(record)}"


def ends(found):
    """Returns the rows with the best and the worst gain, or one row if both are the same."""
    pairs = dict.fromkeys(filter(None, (found.best, found.worst)))
    return "; ".join(f"{number(value)} at {size_name(row)}" for row, value in pairs)


def others(record):
    return ", ".join(short(record.libraries[key]) for key in rivals(record))


def short(title):
    return title.removeprefix("Lanyard, ")


def words_of(record, *alike):
    """Returns, in words, the figures of a series that is not compared with other libraries.

    `alike`: series that try the same settings. Their figures follow those of the first."""
    if is_sweep(record):
        several = [speeds(one) for one in (record, *alike)]
        words = "; ".join(f"{short(title)}: {', '.join(number(found[title]) for found in several)}"
                          for title in several[0])
        return f"speed against {short(record.libraries[record.first])}: {words}"
    if found := verdicts_of(record):
        return ", ".join(f"{found.count(verdict)} {verdict}" for verdict in dict.fromkeys(found))
    rows = record.series.units
    if len(record.libraries) > 1 or len(rows) > FEW:
        return f"{len(rows)} rows of {len(record.libraries)} columns"
    return "; ".join(f"{size_name(row)} {number(figures(record, record.first, row).median)} {unit}"
                     for row, unit in rows.items())


def verdicts_of(record):
    """Returns, for a series of two builds, the verdict on each row, as bench/compare --ours does."""
    if record.has_samples and list(record.libraries) == ["A", "B"]:
        ratios = [time_ratios(record, row, unit) for row, unit in record.series.units.items()]
        return [verdicts.judge(summary(values)) for values in ratios if values]
    summaries = [found for table_of in record.summaries.values() for found in table_of.values()]
    return [found.verdict for found in summaries if found.verdict]


def time_ratios(record, row, unit):
    columns = (record.series.values.get(key, {}).get(row, []) for key in ("A", "B"))
    return [verdicts.time_ratio(a, b, unit) for a, b in zip(*columns) if a and b]


def grid(record, rows):
    """Returns a line for each row, with the medians of all libraries side by side, and the gain if there is
    one."""
    gains = {row: gain(record, row) for row in rows}
    marks = {key: f"{title} (not on this path)" if off_path(record, key) else title
             for key, title in record.libraries.items()}
    units = distinct(record.series.units[row] for row in rows)
    lines = []
    for row in rows:
        cells = [cell(record, key, row, len(units) > 1) for key in record.libraries]
        ratio = [with_interval(gains[row]._asdict()) if gains[row] else ""] if any(gains.values()) else []
        lines.append([size_name(row), *cells, *ratio])
    heads = [f"{record.name}, {units[0]}" if len(units) == 1 else record.name, *marks.values()]
    return table([*heads, *(["gain"] if any(gains.values()) else [])], lines)


def cell(record, key, row, with_unit):
    found = figures(record, key, row)
    if found is None:
        return ""
    return number(found.median) + (f" {record.series.units[row]}" if with_unit else "")
