"""Reads JUnit files (ctest, GoogleTest, pytest, tests/mpi4py/run) into one list of cases and prints the
summary.

Used by tools/test. If ctest runs a GoogleTest program as one test, the program's own cases count instead. A
program may fail without a failed case, because a crash writes no report. Such a program counts as one failed
test.
"""
import collections
import json
import pathlib
import re
import subprocess
import xml.etree.ElementTree as xml

AGAIN = "tools/test --again"
MOST_NAMES = 40  # how many failures are named at the end
# If root on Linux skips such a test, this is a failure, because nothing that the test needs is refused to
# root.
MUST_RUN_AS_ROOT = re.compile(r"(^|[^a-z])(lab|sanitizers?|[atu]b?san|memcheck)([^a-z]|$)", re.IGNORECASE)


class Case:
    """One test: its suite, its name, its outcome (passed, failed, skipped), a sentence, and the output if it
    failed. `found_by` says how tools/test finds the test again (tools/again.py): the kind and name of the
    part, and the name of the test in this part."""

    def __init__(self, suite, name, outcome, message="", text="", labels=(), found_by=None):
        self.suite, self.name, self.outcome, self.message, self.text = suite, name, outcome, message, text
        self.labels = tuple(labels)
        self.found_by = found_by


def outcome_of(node):
    """Returns (outcome, message, text) of a <testcase>."""
    for tag in ("failure", "error"):
        found = node.find(tag)
        if found is not None:
            return "failed", found.get("message") or "", found.text or ""
    found = node.find("skipped")
    if found is not None:
        return "skipped", found.get("message") or (found.text or ""), ""
    if node.get("status") in ("notrun", "disabled"):
        return "skipped", "disabled in its source", ""
    return "passed", "", ""


def read(path, suite, found_by=None):
    """Returns the cases of a JUnit file as pytest, GoogleTest and the repository's own scripts write it.
    found_by(class name, name) returns how each case is found again."""
    cases = []
    for node in xml.parse(path).getroot().iter("testcase"):
        outcome, message, text = outcome_of(node)
        if outcome == "skipped":
            # Drop GoogleTest's file:line.
            message = re.sub(r"^\S+:\d+\s*", "", message).replace("Skipped: ", "").strip()
        classname, name = node.get("classname") or "", node.get("name")
        again = found_by(classname, name) if found_by else None
        cases.append(Case(f"{suite} {classname}".strip(), name, outcome, message, text, found_by=again))
    return cases


def test_folder(build):
    """Returns the folder in which ctest finds its tests. It belongs to the CMakeLists.txt that enables
    testing."""
    return build if (build / "CTestTestfile.cmake").exists() else build / "tests"


def ctest_tests(build):
    """Yields (name, command, properties) of each ctest test of a build folder."""
    command = ["ctest", "--test-dir", str(test_folder(build)), "--show-only=json-v1"]
    listing = subprocess.run(command, capture_output=True, text=True, check=True)
    for test in json.loads(listing.stdout)["tests"]:
        yield test["name"], test.get("command", ()), {entry["name"]: entry["value"]
                                                      for entry in test.get("properties", ())}


def program_of(command, build):
    """Returns the name of the program that a test's command runs. An emulator before it does not count."""
    words = [pathlib.Path(word) for word in command]
    return next((word.name for word in words if build in word.parents), words[0].name if words else "")


def read_ctest(path, details, build, suite):
    """Returns the cases of ctest's report. If a GoogleTest program ran as one test, its own cases replace
    this test. They are read from the files in `details`."""
    programs = {name: (program_of(command, build), properties.get("LABELS", ()))
                for name, command, properties in ctest_tests(build)}
    times_used = collections.Counter(program for program, _ in programs.values())
    cases = []
    for node in xml.parse(path).getroot().iter("testcase"):
        name = node.get("name")
        found_by = ("ctest", suite, name)
        program, labels = programs.get(name, ("", ()))
        outcome, message, text = outcome_of(node)
        output = node.findtext("system-out") or ""
        if node.get("status") == "fail":
            outcome = "failed"
        report = details / f"{program}.xml"
        if times_used[program] == 1 and report.exists():
            opened = read(report, f"{suite} {name}")
            for case in opened:
                case.labels = labels
            if outcome == "failed" and not any(case.outcome == "failed" for case in opened):
                opened.append(Case(suite, name, "failed", "ended badly after its last test", output, labels))
            for case in opened:
                case.found_by = found_by
            cases += opened
            continue
        if outcome == "skipped":
            message = skip_reason(output) or message
        if outcome == "failed":
            message = message or f"did not end with 0 in time; see build/results/{suite}-ctest.log"
        text = output if outcome == "failed" else ""
        cases.append(Case(suite, name, outcome, message, text, labels, found_by))
    return cases


def skip_reason(output):
    """Returns the reason for a skip that a program has printed: in a line 'skipped: reason' or, with
    GoogleTest, after file:line."""
    found = re.search(r"^(?:skipped|skip):\s*(.+)$", output, re.IGNORECASE | re.MULTILINE)
    if found:
        return found.group(1).strip()
    found = re.search(r"^\S+:\d+: Skipped\n(.*)$", output, re.MULTILINE)
    return found.group(1).strip() if found else ""


def judge_skips(cases, root):
    """Turns skips that root must not have (MUST_RUN_AS_ROOT) into failures. mpi4py's own tests may always
    skip what a machine lacks, even in a lab."""
    for case in cases:
        if " mpi4py" in case.suite:
            continue
        words = " ".join((case.name, case.suite.partition(" ")[2], *case.labels))
        if root and case.outcome == "skipped" and MUST_RUN_AS_ROOT.search(words):
            case.outcome, case.message = "failed", f"skipped, though it runs as root: {case.message}"


def write_names(cases, path):
    """Writes all tests of a run by suite and name, one a line, in order."""
    path.write_text("".join(f"{line}\n" for line in sorted(f"{case.suite}: {case.name}" for case in cases)))


def print_skips(cases):
    """Prints every skip with its reason. Tests that share a suite and a reason share a line."""
    groups = collections.defaultdict(list)
    for case in cases:
        if case.outcome == "skipped":
            groups[case.suite, case.message or "no reason given"].append(case.name)
    for (suite, reason), names in groups.items():
        print(f"skipped: {suite}: {', '.join(names)}: {reason}")


def print_names(cases):
    """Prints the names of what failed at the end of a long output, where its reader looks first."""
    names = [f"{case.suite}: {case.name}" for case in cases if case.outcome == "failed"]
    for name in names[:MOST_NAMES]:
        print(f"    {name}")
    if len(names) > MOST_NAMES:
        print(f"    and {len(names) - MOST_NAMES} more")


def summarise(cases, root, again=AGAIN):
    """Prints failures, skips and counts, then what failed and how to run it again. Returns the exit code."""
    judge_skips(cases, root)
    print_skips(cases)
    for case in cases:
        if case.outcome == "failed":
            print(f"failed: {case.suite}: {case.name}: {case.message}")
            lines = case.text.strip().splitlines()
            for line in lines[-20:]:
                print(f"    {line}")
    count = collections.Counter(case.outcome for case in cases)
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    if count["failed"]:
        print("these failed:")
        print_names(cases)
        print(f"just these again: {again}")
        return 1
    if not count["passed"]:
        print("no test ran" if not cases else "no test passed")
        print(f"the same again: {again}")
        return 1
    return 0
