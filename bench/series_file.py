"""Reads and writes the files of bench/results. Each file has one series of measurements, as JSON.

A file says what was measured, how, when and on which machine. It has `samples`, with one value for each round
of each library and row. If the samples have not been kept, it has `summaries` of them instead: medians,
intervals and ratios. The samples of a row are one line, so a diff shows what changed.

A row is a size in bytes, a name, a loss, or a pair of a name and one of these. JSON has no pairs and no
losses: ["bcast", 8] stands for ("bcast", 8), and {"loss": 0.1} for Loss(0.1).
"""
import json
from pathlib import Path

from machine_state import Look
from measure import Loss, Series
from record import LAYOUTS, Ratio, Record, Summary

FORMAT = 1
TEXT = (str, type(None))


class Damaged(Exception):
    """A file is not as this module writes it. The exception's text states what is wrong, where, and what to
    do."""


def encode_row(row):
    if isinstance(row, Loss):
        return {"loss": float(row)}
    if isinstance(row, tuple):
        return [encode_row(part) for part in row]
    if isinstance(row, (int, str)) and not isinstance(row, bool):
        return row
    raise TypeError(f"{row!r} is not a row: a row is a size, a name, a Loss, or a tuple of these")


def decode_row(code):
    if isinstance(code, dict) and list(code) == ["loss"] and isinstance(code["loss"], (int, float)):
        return Loss(code["loss"])
    if isinstance(code, list) and code:
        return tuple(decode_row(part) for part in code)
    if isinstance(code, (int, str)) and not isinstance(code, bool):
        return code
    raise ValueError(f"{json.dumps(code)} is not a row")


def encode_figures(record):
    """Returns the samples of a series, or the summaries if there are no samples."""
    if record.has_samples:
        return {"samples": [{"row": encode_row(row), "library": key, "values": table[row]}
                            for row in record.series.units
                            for key, table in record.series.values.items() if row in table]}
    figures = {"summaries": [{"row": encode_row(row), "library": key, **given(table[row]._asdict())}
                             for row in record.series.units
                             for key, table in record.summaries.items() if row in table]}
    if record.gains:
        figures["gains"] = [{"row": encode_row(row), "gain": gain} for row, gain in record.gains.items()]
    return figures


def given(fields):
    return {name: value for name, value in fields.items() if value is not None}


def encode_rounds(series):
    """Returns the share of other work before each round, and the state of the machine before and after it."""
    rounds = [{"busy": busy} for busy in series.busy]
    for entry, (before, after) in zip(rounds, series.looks):
        entry.update(before=before and before._asdict(), after=after and after._asdict())
    return rounds


def encode(record):
    """Returns the whole file as an object for JSON."""
    series = record.series
    head = {name: getattr(record, name) for name in
            ("name", "title", "group", "layout", "ranks", "route", "command", "commit", "begun", "ended",
             "machine", "notes")}
    return {"format": FORMAT, **head,
            "libraries": [{"key": key, "title": title, "version": series.versions.get(key)}
                          for key, title in record.libraries.items()],
            "first": record.first,
            "rounds": encode_rounds(series),
            "failures": [{"library": key, "words": words} for key, all_words in series.failures.items()
                         for words in all_words],
            "counted_bytes": [{"library": key, "counted_and_sent": pairs}
                              for key, pairs in series.counted.items()],
            "counted_per_sent": record.counted_per_sent,
            "rows": [{"row": encode_row(row), "unit": unit} for row, unit in series.units.items()],
            **encode_figures(record)}


def text_of(data):
    """Returns JSON with a line for each entry of a list, and for each field that is not a list."""
    def one_line(value):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)

    def lines(value):
        if isinstance(value, list) and value:
            return "[\n  " + ",\n  ".join(map(one_line, value)) + "\n ]"
        return one_line(value)
    return "{\n" + ",\n".join(f" {one_line(name)}: {lines(value)}" for name, value in data.items()) + "\n}\n"


def write(path, record):
    Path(path).write_text(text_of(encode(record)))


class Reader:
    """Reads the parts of an object of JSON. Reports what is wrong with it, and where."""

    def __init__(self, path, data):
        self.path = path
        self.data = data

    def fail(self, where, what):
        raise Damaged(f"{self.path}, {where}: {what}. Restore the file with 'git checkout -- {self.path}', "
                      "or take the series again with 'bench/run --record'.")

    def field(self, holder, name, kinds, where):
        if name not in holder:
            self.fail(where, f'"{name}" is missing')
        if not isinstance(holder[name], kinds):
            found = json.dumps(holder[name])[:60]
            self.fail(where, f'"{name}" is {found}, which is not of the expected kind')
        return holder[name]

    def top(self, name, kinds):
        return self.field(self.data, name, kinds, "at the top")

    def entries(self, name):
        """Yields (its place in the file, entry) for each entry of a list."""
        for number, entry in enumerate(self.top(name, list), 1):
            where = f'entry {number} of "{name}"'
            if not isinstance(entry, dict):
                self.fail(where, "it is not an object")
            yield where, entry

    def row(self, entry, where):
        try:
            return decode_row(self.field(entry, "row", (int, str, list, dict), where))
        except ValueError as problem:
            return self.fail(where, str(problem))

    def known(self, entry, where, libraries, rows):
        """Returns the library and the row of an entry."""
        row, key = self.row(entry, where), self.field(entry, "library", str, where)
        if row not in rows:
            self.fail(where, f'the row {json.dumps(entry["row"])} is not in "rows"')
        if key not in libraries:
            self.fail(where, f'the library "{key}" is not in "libraries"')
        return key, row

    def ratio(self, values, where):
        if not isinstance(values, list) or len(values) != 3:
            self.fail(where, "a ratio has three numbers: median, low, high")
        return Ratio(*values)

    def summary(self, entry, where):
        fields = {name: value for name, value in entry.items() if name not in ("row", "library")}
        for name in ("ratio", "time_ratio"):
            if name in fields:
                fields[name] = self.ratio(fields[name], where)
        try:
            return Summary(**fields)
        except TypeError as problem:
            return self.fail(where, str(problem))

    def look(self, entry, name, where):
        numbers = self.field(entry, name, (dict, type(None)), where)
        try:
            return numbers and Look(**numbers)
        except TypeError as problem:
            return self.fail(where, str(problem))


def decode_series(reader, libraries):
    """Returns the series, with its samples if the file has them."""
    series = Series(reader.top("title", str))
    series.versions = {key: version for key, (_, version) in libraries.items() if version is not None}
    for where, entry in reader.entries("rows"):
        series.units[reader.row(entry, where)] = reader.field(entry, "unit", str, where)
    for where, entry in reader.entries("rounds"):
        series.busy.append(reader.field(entry, "busy", (int, float), where))
        if "before" in entry:
            series.looks.append((reader.look(entry, "before", where), reader.look(entry, "after", where)))
    for where, entry in reader.entries("failures"):
        series.failures.setdefault(reader.field(entry, "library", str, where), []).append(
            reader.field(entry, "words", TEXT, where))
    for where, entry in reader.entries("counted_bytes"):
        series.counted[reader.field(entry, "library", str, where)] = [
            tuple(pair) for pair in reader.field(entry, "counted_and_sent", list, where)]
    for where, entry in reader.entries("samples") if "samples" in reader.data else ():
        key, row = reader.known(entry, where, libraries, series.units)
        series.values.setdefault(key, {})[row] = samples(reader, entry, where)
    return series


def samples(reader, entry, where):
    values = reader.field(entry, "values", list, where)
    for value in values:
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
            reader.fail(where, f"{json.dumps(value)} is not a number")
    return values


def decode(path, data):
    """Returns a record from an object that JSON gave. `path` is used in error messages."""
    reader = Reader(path, data)
    if not isinstance(data, dict):
        reader.fail("at the top", "it is not an object")
    if data.get("format") != FORMAT:
        reader.fail("at the top", f'"format" is {data.get("format")}, and this reads format {FORMAT}')
    if ("samples" in data) == ("summaries" in data):
        reader.fail("at the top", 'a file has either "samples" or "summaries"')
    libraries = {reader.field(entry, "key", str, where): (reader.field(entry, "title", str, where),
                                                          reader.field(entry, "version", TEXT, where))
                 for where, entry in reader.entries("libraries")}
    kinds = {"name": str, "group": str, "first": str, "layout": str, "ranks": (int, type(None)),
             "route": TEXT, "command": TEXT, "commit": TEXT, "begun": TEXT, "ended": TEXT, "machine": dict,
             "notes": list, "counted_per_sent": dict}
    record = Record(decode_series(reader, libraries),
                    libraries={key: title for key, (title, _) in libraries.items()},
                    **{name: reader.top(name, kind) for name, kind in kinds.items()})
    if record.layout not in LAYOUTS:
        reader.fail("at the top", f'"layout" is "{record.layout}"; the layouts are {" and ".join(LAYOUTS)}')
    if record.first not in libraries:
        reader.fail("at the top", f'"first" is "{record.first}", which is not in "libraries"')
    for where, entry in reader.entries("summaries") if "summaries" in data else ():
        key, row = reader.known(entry, where, libraries, record.series.units)
        record.summaries.setdefault(key, {})[row] = reader.summary(entry, where)
    for where, entry in reader.entries("gains") if "gains" in data else ():
        record.gains[reader.row(entry, where)] = reader.ratio(reader.field(entry, "gain", list, where), where)
    return record


def read(path):
    path = Path(path)
    try:
        data = json.loads(path.read_text())
    except json.JSONDecodeError as problem:
        Reader(path, None).fail(f"line {problem.lineno}", f"it is not JSON ({problem.msg})")
    return decode(path, data)


def read_all(folder):
    """Returns {name: record} of every series in a folder. A file must have the name of its series."""
    records = {}
    for path in sorted(Path(folder).glob("*.json")):
        if path.stem == "goals":
            continue
        record = read(path)
        if record.name != path.stem:
            Reader(path, None).fail("at the top", f'"name" is "{record.name}", which is not that of the file')
        records[record.name] = record
    return records
