"""Writes new measurements as files like those of bench/results, and copies them there.

Used by bench/run and bench/compare.
"""
import functools
import json
import shlex
import shutil
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import machine
import series_file
from measure import Series
from record import Record

REPOSITORY = Path(__file__).resolve().parent.parent
RESULTS = REPOSITORY / "bench" / "results"


def now():
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())


@functools.cache
def commit():
    """Returns the commit of the source, followed by 'with changes' if files differ from it.

    Returns None if git does not report it.
    """
    def git(*words):
        return subprocess.run(["git", "-C", REPOSITORY, *words], capture_output=True, text=True,
                              check=True).stdout.strip()
    try:
        name = git("rev-parse", "--short=7", "HEAD")
        changed = git("status", "--porcelain", "--untracked-files=no")
        return f"{name} with changes" if changed else name
    except (OSError, subprocess.CalledProcessError):
        return None


def command_line(program, words):
    return shlex.join([program, *map(str, words)])


def write(folder, series, name, group, libraries, begun, **more):
    """Writes one series into a folder. The series was taken since `begun`, with the present source."""
    titles = {key: library.title for key, library in libraries.items()}
    record = Record(series, name=name, group=group, libraries=titles, first=next(iter(titles)),
                    commit=commit(), begun=begun, ended=now(), machine=machine.facts(), **more)
    folder.mkdir(parents=True, exist_ok=True)
    series_file.write(folder / f"{name}.json", record)


def one_round(title, columns):
    """Returns a series of one round from {key: {row: (value, unit)}}."""
    series = Series(title)
    for key, rows in columns.items():
        series.add(SimpleNamespace(key=key), 0, None, rows)
    return series


def keep(names, folder, results=RESULTS):
    """Copies the series that have figures into bench/results, and returns their names.

    Their goals are now judged from the samples, so the old verdicts are removed.
    """
    results.mkdir(exist_ok=True)
    kept = [name for name in names
            if (folder / f"{name}.json").exists() and series_file.read(folder / f"{name}.json").has_samples]
    for name in kept:
        shutil.copy(folder / f"{name}.json", results / f"{name}.json")
    goals = results / "goals.json"
    if goals.exists():
        data = json.loads(goals.read_text())
        data["goals"] = [goal for goal in data["goals"] if goal["series"] not in kept]
        goals.write_text(series_file.text_of(data))
    return kept
