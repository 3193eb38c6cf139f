"""Tests that tools/suppressions.py wants a reason on the line of each suppression, and few of them."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import suppressions  # noqa: E402

GOOD = "int a;  // NOLINT(bugprone-x): the reason is here\n"


def findings(text="", checks="", path="src/base/a.h"):
    return list(suppressions.findings([(path, text)], checks))


@pytest.mark.parametrize("line", [
    GOOD, "// NOLINTNEXTLINE(bugprone-x, performance-y): the reason is here\n",
    "#pragma GCC diagnostic ignored \"-Wshadow\"  // the reason is here\n",
    "  -Wno-unused-parameter)  # the reason is here\n",
    "const char *name = \"-Wnone\";\n", "int x = a -Wno;\n"])
def test_a_reason_on_the_line_suffices(line):
    assert findings(line) == []


@pytest.mark.parametrize("line", [
    "int a;  // NOLINT\n", "int a;  // NOLINT(bugprone-x)\n", "int a;  // NOLINT(bugprone-x): why\n",
    "int a;  // NOLINT: the reason is here\n", "int a;  // NOLINT(*): the reason is here\n",
    "// NOLINTBEGIN(bugprone-x)\n"])
def test_a_comment_without_check_or_reason_is_a_finding(line):
    assert findings("\n" + line) == [("src/base/a.h", 2, "write NOLINT(CHECK): and the reason on its line")]


@pytest.mark.parametrize("line", ["#pragma clang diagnostic ignored \"-Wshadow\"\n",
                                  "add_compile_options(-Wno-shadow)\n"])
def test_a_warning_turned_off_without_a_reason_is_a_finding(line):
    assert findings(line) == [("src/base/a.h", 1, "a warning is turned off without a reason on its line")]


def test_a_check_that_is_left_out_has_a_reason():
    checks = "# -bugprone-x: the reason is here\nChecks: >\n  -*,bugprone-*,-bugprone-x,-concurrency-mt-*\n"
    assert findings(checks=checks) == [(".clang-tidy", 3, "-concurrency-mt-* is left out without a reason")]


def test_there_are_at_most_thirty():
    assert findings(GOOD * 30) == []
    assert findings(GOOD * 31) == [(".clang-tidy", 1, "31 suppressions of warnings; at most 30")]
