"""Finds out which tests exercise a module of src. Used by tools/tidy.py.

X.h and X.cc of one folder are one module. Its tests are found from its name (X_test.cc, test_X.py, or X.cc in
tests/fuzz), or are named at the end of the head comment of its header, or of its .cc if it has no header:

    // Tested by: tests/unit/p2p/match_test.cc, tests/mpi/comm/hints.cc.

The first test that such a line names is the most direct one. A module has at most two of these lines.
"""
import pathlib
import re

LEFT_OUT = re.compile(r"^src/doors/(?:functions/|[^/]+/entry_points)")  # generated, or lists for macros
SUFFIXES = (".h", ".cc")
LINE = re.compile(r"^//\s*Tested by\b")
FORM = re.compile(r"^// Tested by: ([\w./-]+(?:, [\w./-]+)*)\.$")
MOST_LINES = 2
OTHER_SUBJECTS = ("tests/bench/", "tests/tools/")  # test bench/ and tools/, not src
UNTESTED = {
    "src/base/audience",  # an enumeration
    "src/base/bytes",  # constants
    "src/base/fmt",  # makes the linker keep functions of fmt; without it, programs do not link
    "src/net/fabric_absent",  # one error, in builds without libfabric's headers
}


def modules(sources):
    """Returns {module without suffix: {suffix: text}} of the hand-written `sources`, which are pairs of path
    and text."""
    found = {}
    for path, text in sources:
        stem, suffix = pathlib.PurePath(path).with_suffix("").as_posix(), pathlib.PurePath(path).suffix
        if path.startswith("src/") and suffix in SUFFIXES and not LEFT_OUT.match(path):
            found.setdefault(stem, {})[suffix] = text
    return found


def named_after(test):
    """The name of the module that a test is named after, or None."""
    path = pathlib.PurePath(test)
    if test.startswith(OTHER_SUBJECTS) or not test.startswith("tests/"):
        return None
    if path.suffix == ".cc" and path.stem.endswith("_test"):
        return path.stem.removesuffix("_test")
    if path.suffix == ".py" and path.stem.startswith("test_"):
        return path.stem.removeprefix("test_")
    return path.stem if path.suffix == ".cc" and path.parent.as_posix() == "tests/fuzz" else None


def tested_by_name(found, tests):
    """Returns the modules after which a test is named. If a unit test is in the folder of one of these
    modules, it belongs to that module alone."""
    tested = set()
    by_name = {}
    for module in found:
        by_name.setdefault(pathlib.PurePath(module).name, set()).add(module)
    for test in tests:
        alike = by_name.get(named_after(test), set())
        folder = pathlib.PurePath(test).parent.as_posix().removeprefix("tests/unit/")
        tested |= alike & {f"src/{folder}/{named_after(test)}"} or alike
    return tested


def head(text):
    """(number, line) of the comment with which a file begins."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("//"):
            return
        yield number, line


def lines_of(module, files):
    """Returns, for the head comment of a module, its file, its lines `Tested by:` as (number, line), and its
    length."""
    suffix = next(suffix for suffix in SUFFIXES if suffix in files)
    lines = list(head(files[suffix]))
    return module + suffix, [(number, line) for number, line in lines if LINE.match(line)], len(lines)


def findings(root, sources, paths):
    """Yields (path, line, what is wrong, name) for each module without tests, and for each line `Tested by:`
    that is wrong. `sources`: (path, text) of the hand-written code. `paths`: the paths of all files."""
    found = modules(sources)
    by_name = tested_by_name(found, paths)
    for module, files in sorted(found.items()):
        path, lines, end = lines_of(module, files)
        if not lines and module not in by_name and module not in UNTESTED:
            yield path, 1, ("no test is named after this module: let the last line of its head comment be "
                            "'// Tested by: tests/FOLDER/FILE.'"), module
        if module in UNTESTED and (lines or module in by_name):
            yield path, 1, "it has tests: take it out of UNTESTED in tools/tested_by.py", module
        numbers = [number for number, _ in lines]
        if len(lines) > MOST_LINES or numbers != list(range(end - len(lines) + 1, end + 1)):
            words = f"'Tested by:' is the end of the head comment, in at most {MOST_LINES} lines"
            yield path, numbers[0], words, module
        for number, line in lines:
            form = FORM.match(line)
            if not form:
                yield path, number, "the form of this line is '// Tested by: PATH, PATH.'", module
                continue
            for named in form.group(1).split(", "):
                if not named.startswith("tests/") or not (root / named).exists():
                    yield path, number, f"there is no test {named}", named
