"""Tests how the summary of tools/test is made: reading reports, judging skips, printing the last lines."""
import importlib.util
import pathlib
import subprocess

import pytest

SPEC = importlib.util.spec_from_file_location(
    "junit", pathlib.Path(__file__).resolve().parents[2] / "tools" / "junit.py")
junit = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(junit)


def summary(capsys, cases, root=False):
    code = junit.summarise(cases, root)
    return code, capsys.readouterr().out.splitlines()


def test_closing_line_counts_and_code_follows_failures(capsys):
    cases = [junit.Case("s", "a", "passed"), junit.Case("s", "b", "skipped", "no such machine"),
             junit.Case("s", "c", "passed")]
    code, lines = summary(capsys, cases)
    assert (code, lines) == (0, ["skipped: s: b: no such machine", "2 passed, 0 failed, 1 skipped"])
    code, lines = summary(capsys,
                          [*cases, junit.Case("s", "d", "failed", "1 is not 2", "line one\nline two")])
    assert code == 1
    assert lines[-7:] == ["failed: s: d: 1 is not 2", "    line one", "    line two",
                          "2 passed, 1 failed, 1 skipped", "these failed:", "    s: d",
                          "just these again: tools/test --again"]


def test_many_failures_are_not_all_named_twice(capsys):
    code, lines = summary(capsys, [junit.Case("s", f"t{number}", "failed") for number in range(100)])
    assert (code == 1 and lines[-2:] == ["    and 60 more", "just these again: tools/test --again"] and
            lines[-3] == "    s: t39")


def test_no_test_at_all_is_a_failure(capsys):
    again = "the same again: tools/test --again"
    assert summary(capsys, []) == (1, ["0 passed, 0 failed, 0 skipped", "no test ran", again])
    code, lines = summary(capsys, [junit.Case("s", "a", "skipped", "no such machine")])
    assert (code, lines[-3:]) == (1, ["0 passed, 0 failed, 1 skipped", "no test passed", again])


@pytest.mark.parametrize(("root", "outcome"), [(True, "failed"), (False, "skipped")])
def test_a_lab_or_sanitizer_test_skipped_for_root_is_a_failure(root, outcome):
    for case in (junit.Case("release tests.lab.test_hosts", "two_hosts", "skipped", "no namespaces"),
                 junit.Case("debug", "sanitizer leak check", "skipped"),
                 junit.Case("debug", "x", "skipped", labels=["lab"])):
        junit.judge_skips([case], root)
        assert case.outcome == outcome


@pytest.mark.parametrize("suite, name", [("debug unit", "available_labels"),
                                         ("release mpi4py-lab.n4.test_msgspec",
                                          "TestMessageSimpleCuPy.testArray1")])
def test_other_skips_stay_skips_for_root(suite, name):
    case = junit.Case(suite, name, "skipped", "two processors needed")
    junit.judge_skips([case], True)
    assert case.outcome == "skipped"


def test_reports_are_read(tmp_path):
    path = tmp_path / "report.xml"
    path.write_text('<testsuites><testsuite><testcase classname="C" name="ok"/>'
                    '<testcase classname="C" name="bad"><failure message="why">details</failure></testcase>'
                    '<testcase classname="C" name="off"><skipped message="file.cc:12&#10;no '
                    'namespaces"/></testcase></testsuite></testsuites>')
    cases = [(case.name, case.outcome, case.message) for case in junit.read(path, "s")]
    assert cases == [("ok", "passed", ""), ("bad", "failed", "why"), ("off", "skipped", "no namespaces")]


def test_reasons_of_skips_are_found_in_output():
    assert junit.skip_reason("some line\nskipped: needs two processors\n") == "needs two processors"
    assert junit.skip_reason("/a/b.cc:12: Skipped\nno namespaces\n[  SKIPPED ]") == "no namespaces"
    assert junit.skip_reason("nothing") == ""


CTEST_FILE = """
add_test(skips "sh" "-c" "echo 'skipped: no second host'; exit 77")
set_tests_properties(skips PROPERTIES SKIP_RETURN_CODE 77 LABELS lab)
add_test(fails "sh" "-c" "echo broken; exit 3")
add_test(hangs "sleep" "100")
set_tests_properties(hangs PROPERTIES TIMEOUT 1)
add_test(passes "true")
add_test(several "{several}")
add_test(crashes "{crashes}")
add_test(emulated "env" "{emulated}")
"""
GTEST_REPORT = '''<testsuites><testsuite name="A"><testcase name="ok" status="run" classname="A"/>
<testcase name="off" status="run" result="skipped" classname="A">
<skipped message="x.cc:3&#x0A;no luck"/></testcase></testsuite></testsuites>'''


def test_ctest_is_read_with_labels_reasons_and_the_cases_of_googletest(tmp_path):
    """`several` acts as a GoogleTest program with two cases. `crashes` reports a case that passed and then
    fails. `emulated` is started by another program, as an emulator would."""
    details = tmp_path / "details"
    details.mkdir()
    programs = {name: tmp_path / name for name in ("several", "crashes", "emulated")}
    for name, program in programs.items():
        program.write_text(f"#!/bin/sh\nexit {int(name == 'crashes')}\n")
        program.chmod(0o755)
        (details / f"{name}.xml").write_text(GTEST_REPORT)
    (tmp_path / "CTestTestfile.cmake").write_text(CTEST_FILE.format(**programs))
    report = tmp_path / "report.xml"
    subprocess.run(["ctest", "--test-dir", tmp_path, "--output-junit", report], capture_output=True,
                   check=False)
    cases = junit.read_ctest(report, details, tmp_path, "release")
    found = {(case.suite, case.name): (case.outcome, case.message) for case in cases}
    assert found["release", "skips"] == ("skipped", "no second host")
    assert found["release", "fails"][0] == found["release", "hangs"][0] == "failed"
    assert found["release", "passes"][0] == "passed"
    assert (found["release several A", "ok"][0] == "passed" and
            found["release several A", "off"] == ("skipped", "no luck"))
    assert found["release emulated A", "ok"][0] == "passed"
    assert {case.found_by for case in cases} == {
        ("ctest", "release", name) for name in ("skips", "fails", "hangs", "passes", *programs)}
    assert found["release", "crashes"] == ("failed", "ended badly after its last test")
    assert next(case.labels for case in cases if case.name == "skips") == ("lab",)
