"""Makes bench/RESULTS.md from the files of bench/results: measurements (*.json) and texts by hand (*.md).

page.md is the whole page. A line {{NAME ...}} of a text is a directive, which is replaced as follows:

    {{include FILE}}          another text
    {{versions}} {{machines}} {{groups}} {{goals}} {{verdicts}}
    {{plots NAME NAME}}       pictures of series
    {{series GROUP, GROUP}}   a line for each series of these groups
    {{grid NAME}}             the medians of a series, libraries side by side
    {{grid NAME: ROW; ROW}}   some rows of a series, named as in the tables: 8 B, or bcast, 1 KiB

In a text, the lines of a paragraph or of an item of a list are wrapped. On the page, a paragraph or item is a
single line, which is wrapped by the program that shows it.
"""
import json
import re
from pathlib import Path

import page_tables
import series_file
from tables import size_name

BENCH = Path(__file__).resolve().parent
LINES_MAX = 400
COMMANDS = {"shared memory": "make bench", "collectives": "make bench ONLY=collectives",
            "threads": "make bench ONLY=threads", "abi": "make bench ONLY=abi-cost",
            "mpi4py": "make bench ONLY=mpi4py", "applications": "make bench ONLY=applications,posted",
            "network": "make bench ONLY=network", "datagrams": "make bench ONLY=datagrams"}
ALONE = ("#", "|", "!", "{{")  # a line that begins like this is not part of a paragraph
DIRECTIVE = re.compile(r"\{\{(\w+)\s*(.*?)\}\}")


class Wrong(Exception):
    """A directive in a text cannot be replaced. The exception's text states where it is and what is
    missing."""


def unwrapped(lines):
    """Returns (number of its first line, text) for each paragraph, item, heading, row and empty line."""
    whole = []
    for number, line in enumerate(lines, 1):
        goes_on = line and not line.startswith(ALONE) and not line.startswith("- ") and whole
        if goes_on and whole[-1][1] and not whole[-1][1].startswith(ALONE):
            whole[-1] = (whole[-1][0], f"{whole[-1][1]} {line.strip()}")
        else:
            whole.append((number, line.rstrip()))
    return whole


class Page:
    """The page of one folder of results.

    When the page has been made, `pictured` contains the names of the series whose pictures are on it.
    """

    def __init__(self, folder=BENCH / "results"):
        self.folder = Path(folder)
        self.records = series_file.read_all(folder)
        goals = self.folder / "goals.json"
        self.goals = json.loads(goals.read_text())["goals"] if goals.exists() else []
        self.pictured = []
        for goal in self.goals:
            if goal["series"] not in self.records:
                raise Wrong(f"{goals} has a goal of '{goal['series']}', and there is no such series.")

    def text(self):
        return "\n".join(self.expanded("page.md")) + "\n"

    def expanded(self, name, where="bench/report"):
        """Returns the lines of a text, in which the directives have been replaced."""
        if not (self.folder / name).exists():
            raise Wrong(f"{where}: there is no text '{name}' in {self.folder}.")
        lines = []
        for number, line in unwrapped((self.folder / name).read_text().splitlines()):
            found = DIRECTIVE.fullmatch(line)
            place = f"{self.folder / name}, line {number}"
            lines += self.directed(place, *found.groups()) if found else [line]
        return lines

    def directed(self, where, word, words):
        made = {"include": lambda: self.expanded(words, where),
                "versions": lambda: page_tables.versions(self.records),
                "machines": lambda: page_tables.machines(self.records),
                "groups": lambda: page_tables.groups(self.records, COMMANDS),
                "goals": lambda: page_tables.goal_table(self.records, self.goals),
                "verdicts": lambda: page_tables.goal_counts(self.records, self.goals),
                "plots": lambda: self.plots(where, words.split()),
                "series": lambda: self.series(where, words),
                "grid": lambda: self.grid(where, words)}
        if word not in made:
            raise Wrong(f"{where}: there is no '{word}'; there are {', '.join(made)}.")
        return made[word]()

    def record(self, where, name):
        if name not in self.records:
            raise Wrong(f"{where}: there is no series '{name}' in {self.folder}.")
        return self.records[name]

    def plots(self, where, names):
        self.pictured += names
        return [" ".join(f"![{self.record(where, name).title}](plots/{name}.svg)" for name in names)]

    def series(self, where, groups):
        records = []
        for name in map(str.strip, groups.split(",")):
            if name not in COMMANDS:
                raise Wrong(f"{where}: there is no group '{name}'; there are {', '.join(COMMANDS)}.")
            records += [record for record in self.records.values() if record.group == name]
        return page_tables.series_table(records)

    def grid(self, where, words):
        name, _, chosen = words.partition(":")
        record = self.record(where, name.strip())
        rows = {size_name(row): row for row in record.series.units}
        wanted = [row.strip() for row in chosen.split(";")] if chosen else rows
        if missing := [row for row in wanted if row not in rows]:
            raise Wrong(f"{where}: the series '{record.name}' has no row '{missing[0]}'.")
        return page_tables.grid(record, [rows[row] for row in wanted])


def problems(page, path):
    """Yields a sentence for each error of the page at `path`."""
    text = page.text()
    lines = text.count("\n")
    if lines > LINES_MAX:
        yield f"{path} has {lines} lines; at most {LINES_MAX}: shorten a text of {page.folder}."
    if not path.exists() or path.read_text() != text:
        yield f"{path} is not what the files of {page.folder} give: run bench/report."
    for name in page.pictured:
        if not (path.parent / "plots" / f"{name}.svg").exists():
            yield f"{path} shows plots/{name}.svg, which does not exist."
