"""What of a run of tools/test failed, kept in build/results/failed.json, so that `tools/test --again` runs
just that.

A run has parts: a kind of test and a name, such as ("ctest", "debug") or ("pytest",
"release-LANYARD_TEST_HARMED"). What failed is known by its part and by the name under which the part's own
tool finds it again. Where that name is not known the whole part failed; where a build failed, all that needs
it did; where the tests could not begin, everything.
"""
import json
import re

ALL = "all"  # instead of names: every test of a part
EVERYTHING = ("everything", "")
FILE = "failed.json"
MOST_BYTES = 20_000  # of the regular expression that names tests for ctest


def needs(kind, name):
    """The presets without which a part cannot run."""
    if kind == "fuzz" or (kind, name) == ("build", "fuzz"):
        return {"release", "fuzz"}
    if kind in ("ctest", "pytest", "build"):
        return {name.partition("-")[0]}
    return {"mpi4py": {"release"}, "memcheck": {"release"}}.get(kind, set())


class Failed:
    """What failed in the last run, and the options that it had."""

    def __init__(self, parts, options):
        self.parts, self.options = parts, options

    def tests(self, kind, name):
        """Of a part: ALL, or the names of those that are to run again, perhaps of none."""
        broken = [EVERYTHING, *(("build", preset) for preset in needs(kind, name))]
        if any(part in self.parts for part in broken):
            return ALL
        names = self.parts.get((kind, name), [])
        return ALL if None in names else names

    def presets(self):
        """Those that must be built."""
        if EVERYTHING in self.parts:
            return set(self.options["preset"])
        return set().union(*(needs(kind, name) for kind, name in self.parts))


def save(folder, cases, options, earlier=None):
    """After a run. One without a single test that passed or failed has failed as a whole. What an `earlier`
    run left, and this one could not run, is still to be run."""
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
    """(part, names) of an earlier run that a failure before all tests, such as a build's, kept from running
    again."""
    if earlier and (kind, name) == EVERYTHING:
        return list(earlier.parts.items())
    if earlier and kind == "build":
        return [(part, names) for part, names in earlier.parts.items()
                if part == EVERYTHING or name in needs(*part)]
    return []


def forget(folder):
    """When a run begins: should it not end, nothing is known of it."""
    (folder / FILE).unlink(missing_ok=True)


def load(folder):
    """What the last run left, or nothing."""
    try:
        kept = json.loads((folder / FILE).read_text())
    except OSError:
        return None
    return Failed({(kind, name): names for kind, name, names in kept["failed"]}, kept["options"])


def node_id(root, classname, name):
    """The name by which pytest finds a test again, of what its JUnit report says, such as
    'tests.launch.test_mpi.TestX' and 'test_y[1::2]'. A file that could not be read is reported with its own
    name alone. Nothing where there is no such file."""
    words = (classname or name).split(".")
    for end in range(len(words), 0, -1):
        path = "/".join(words[:end]) + ".py"
        if (root / path).is_file():
            return "::".join([path, *words[end:], name] if classname else [path])
    return None


def for_ctest(names):
    """Options that choose just these tests, or none where there are too many to name. ctest's regular
    expressions are of a kind of their own."""
    pattern = "|".join(re.sub(r"([^\w -])", r"\\\1", name) for name in names)
    return ["-R", f"^({pattern})$"] if len(pattern) < MOST_BYTES else []


def for_mpi4py(names):
    """Options for tests/mpi4py/run that choose the modules and numbers of ranks of these, as '3/test_p2p'."""
    ranks, modules = ({name.split("/")[at] for name in names} for at in (0, 1))
    return ["--ranks", ",".join(sorted(ranks, key=int)), "--tests", rf"^({'|'.join(sorted(modules))})\.py$"]


def of_mpi4py(suite):
    """That name, of a suite such as 'mpi4py-wheel.n3.test_p2p'; none for what is not of a single module."""
    found = re.search(r"\.n(\d+)\.(test_\w+)$", suite)
    return f"{found[1]}/{found[2]}" if found else None
