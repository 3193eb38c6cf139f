"""Records what failed in a run of tools/test, in build/results/failed.json, so that `tools/test --again` runs
only that.

A run has parts: a kind of test and a name, such as ("ctest", "debug") or ("pytest",
"release-LANYARD_TEST_HARMED"). A failure is identified by its part and by the name under which the part's own
tool finds it again. If that name is unknown, the whole part counts as failed. If a build failed, all parts
that need it count as failed. If the tests could not begin, all parts count as failed.
"""
import json
import re

ALL = "all"  # stands for all names: every test of a part
EVERYTHING = ("everything", "")
FILE = "failed.json"
MOST_BYTES = 20_000  # limit of the regular expression that names tests for ctest


def needs(kind, name):
    """The presets without which a part cannot run."""
    if kind == "fuzz" or (kind, name) == ("build", "fuzz"):
        return {"release", "fuzz"}
    if kind in ("ctest", "pytest", "build"):
        return {name.partition("-")[0]}
    return {"mpi4py": {"release"}, "memcheck": {"release"}}.get(kind, set())


class Failed:
    """What failed in the last run, and the options of that run."""

    def __init__(self, parts, options):
        self.parts, self.options = parts, options

    def tests(self, kind, name):
        """Returns ALL, or the names of the part's tests that are to run again. The list of names may be
        empty."""
        broken = [EVERYTHING, *(("build", preset) for preset in needs(kind, name))]
        if any(part in self.parts for part in broken):
            return ALL
        names = self.parts.get((kind, name), [])
        return ALL if None in names else names

    def presets(self):
        """The presets that must be built."""
        if EVERYTHING in self.parts:
            return set(self.options["preset"])
        return set().union(*(needs(kind, name) for kind, name in self.parts))


def save(folder, cases, options, earlier=None):
    """Records a run at its end. A run in which no test passed or failed counts as failed as a whole. Tests
    that failed in an `earlier` run and could not run in this one remain recorded."""
    parts = {}
    for case in cases:
        if case.outcome == "failed":
            kind, name, test = case.found_by or (*EVERYTHING, None)
            for part, names in kept(kind, name, earlier) or [((kind, name), [test])]:
                known = parts.setdefault(part, [])
                known += [each for each in names if each not in known]
    if not any(case.outcome in ("passed", "failed") for case in cases):
        parts = earlier.parts if earlier else {EVERYTHING: [None]}
    rows = [[kind, name, names] for (kind, name), names in parts.items()]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text(json.dumps({"options": options, "failed": rows}, indent=1) + "\n")


def kept(kind, name, earlier):
    """Returns (part, names) for each part of an earlier run that could not run again, because this run failed
    before its tests began, for example in a build."""
    if earlier and (kind, name) == EVERYTHING:
        return list(earlier.parts.items())
    if earlier and kind == "build":
        return [(part, names) for part, names in earlier.parts.items()
                if part == EVERYTHING or name in needs(*part)]
    return []


def forget(folder):
    """Called when a run begins, so that nothing is recorded if the run does not end."""
    (folder / FILE).unlink(missing_ok=True)


def load(folder):
    """Returns what the last run recorded, or None."""
    try:
        kept = json.loads((folder / FILE).read_text())
    except OSError:
        return None
    return Failed({(kind, name): names for kind, name, names in kept["failed"]}, kept["options"])


def node_id(root, classname, name):
    """Returns the name by which pytest finds a test again. It is made from the words of pytest's JUnit
    report, such as 'tests.launch.test_mpi.TestX' and 'test_y[1::2]'. If pytest could not read a file, the
    report has only the name of the file. Returns None if no file belongs to the words."""
    words = (classname or name).split(".")
    for end in range(len(words), 0, -1):
        path = "/".join(words[:end]) + ".py"
        if (root / path).is_file():
            return "::".join([path, *words[end:], name] if classname else [path])
    return None


def for_ctest(names):
    """Returns options that choose only these tests, or no options if there are too many tests to name. The
    escapes are needed because ctest has its own kind of regular expressions."""
    pattern = "|".join(re.sub(r"([^\w -])", r"\\\1", name) for name in names)
    return ["-R", f"^({pattern})$"] if len(pattern) < MOST_BYTES else []


def for_mpi4py(names):
    """Options for tests/mpi4py/run that choose the modules and numbers of ranks of these names, such as
    '3/test_p2p'."""
    ranks, modules = ({name.split("/")[at] for name in names} for at in (0, 1))
    return ["--ranks", ",".join(sorted(ranks, key=int)), "--tests", rf"^({'|'.join(sorted(modules))})\.py$"]


def of_mpi4py(suite):
    """Returns the name of a test for for_mpi4py(), made from a suite such as 'mpi4py-wheel.n3.test_p2p'.
    Returns None if the suite is not that of a single module."""
    found = re.search(r"\.n(\d+)\.(test_\w+)$", suite)
    return f"{found[1]}/{found[2]}" if found else None
