"""Tests that tools/tested_by.py finds a module's tests by name or by a line in the module's head, and reports
modules without tests."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import tested_by  # noqa: E402

LINE = "// Tested by: tests/sim/jobs_test.cc, tests/mpi/coll.\n"
HEAD = "// What it is for.\n"


@pytest.fixture(name="findings")
def findings_in(tmp_path):
    """Returns a function that writes sources, {path: text}, and files for tests, and returns the findings of
    tools/tested_by.py."""
    def find(sources, *tests):
        for test in (*tests, "tests/sim/jobs_test.cc", "tests/mpi/coll/moves.cc"):
            (tmp_path / test).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / test).write_text("")
        found = tested_by.findings(tmp_path, sources.items(), [*sources, *tests])
        return [(path, line, words) for path, line, words, _ in found]
    return find


# tests, and the modules of src/net/a, src/path/a and src/path/b that they are named after
NAMES = [
    (["tests/unit/path/a_test.cc"], {"src/path/a"}),
    (["tests/unit/path/a_test.cc", "tests/unit/net/a_test.cc"], {"src/path/a", "src/net/a"}),
    (["tests/unit/other/a_test.cc"], {"src/path/a", "src/net/a"}),
    (["tests/sim/b_test.cc"], {"src/path/b"}),
    (["tests/launch/test_b.py"], {"src/path/b"}),
    (["tests/fuzz/b.cc"], {"src/path/b"}),
    (["tests/mpi/b.cc", "tests/unit/path/b.cc", "tests/fuzz/b.h", "tests/lab/b_test.py"], set()),
    (["tests/bench/b_test.cc", "tests/tools/test_b.py", "src/other/b_test.cc"], set()),
]


@pytest.mark.parametrize(("tests", "modules"), NAMES, ids=[" ".join(tests) for tests, _ in NAMES])
def test_names_of_tests(tests, modules):
    assert tested_by.tested_by_name(["src/net/a", "src/path/a", "src/path/b"], tests) == modules


def test_modules_are_hand_written_headers_with_their_sources():
    sources = [("src/base/a.h", "1"), ("src/base/a.cc", "2"), ("src/base/b.cc", "3"),
               ("src/config/settings.inc", "4"), ("tests/unit/c.cc", "5"), ("src/doors/functions/d.h", "6"),
               ("src/doors/mpi_abi/entry_points.cc", "7"), ("src/doors/mpi_abi/door.cc", "8")]
    assert tested_by.modules(sources) == {"src/base/a": {".h": "1", ".cc": "2"}, "src/base/b": {".cc": "3"},
                                          "src/doors/mpi_abi/door": {".cc": "8"}}


def test_a_name_or_a_line_suffices(findings):
    named = "tests/unit/base/a_test.cc"
    assert findings({"src/base/a.h": HEAD, "src/base/a.cc": HEAD}, named) == []
    assert findings({"src/base/a.h": HEAD + LINE + "#pragma once\n", "src/base/a.cc": HEAD}) == []
    assert findings({"src/base/a.cc": LINE + LINE + "#include <a>\n"}) == []
    assert findings({"src/base/a.h": HEAD + LINE}, named) == []


# the text of src/base/a.h, the line that is judged, words of the finding
WRONG = [
    (HEAD, 1, "no test is named after this module"),
    ("#pragma once\n" + LINE, 1, "no test is named after this module"),
    (HEAD + "#pragma once\n\n" + LINE, 1, "no test is named after this module"),
    (HEAD + LINE.replace("jobs", "gone"), 2, "there is no test tests/sim/gone_test.cc"),
    (HEAD + "// Tested by: src/base/a.h.\n", 2, "there is no test src/base/a.h"),
    (HEAD + "// Tested by: .\n", 2, "the form of this line"),
    (HEAD + "// Tested by: tests/sim/jobs_test.cc\n", 2, "the form of this line"),
    (HEAD + "// Tested by tests/sim/jobs_test.cc.\n", 2, "the form of this line"),
    (HEAD + LINE + HEAD, 2, "is the end of the head comment"),
    (HEAD + LINE * 3, 2, "in at most 2 lines"),
]


@pytest.mark.parametrize(("text", "line", "words"), WRONG)
def test_what_is_wrong(findings, text, line, words):
    found = findings({"src/base/a.h": text, "src/base/a.cc": HEAD + LINE})
    assert [(path, number) for path, number, _ in found] == [("src/base/a.h", line)]
    assert words in found[0][2]


def test_modules_that_need_no_test_are_listed_while_they_have_none(findings):
    module = sorted(tested_by.UNTESTED)[0]
    assert findings({f"{module}.h": HEAD}) == []
    assert "take it out of UNTESTED" in findings({f"{module}.h": HEAD + LINE})[0][2]


def test_the_list_names_modules_of_this_repository():
    root = pathlib.Path(__file__).resolve().parents[2]
    for module in tested_by.UNTESTED:
        assert any((root / (module + suffix)).exists() for suffix in tested_by.SUFFIXES), module
