"""Tests that tools/test --again runs the tests that failed in the last run of tools/test, and no others.
--check must run the quick tests.

The tests here use a small project. Each test of this project records that it ran."""
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("again", ROOT / "tools" / "again.py")
again = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(again)

PRESET = {"version": 6, "configurePresets": [
    {"name": name, "binaryDir": f"${{sourceDir}}/build/{name}", "cacheVariables": {"NAME": name}}
    for name in ("release", "debug")]}
# Every test of the project records that it ran. A test whose name is in the file `broken` fails.
CMAKE = """
cmake_minimum_required(VERSION 3.25)
project(small NONE)
enable_testing()
set(label_one unit)
set("label_two (of [a|b]) + c.d" once)
set(label_twoX units once)
set(label_three sim)
add_custom_target(all-of-it ALL COMMAND sh -c "! grep -q ${NAME} ${CMAKE_SOURCE_DIR}/stop")
foreach(name one "two (of [a|b]) + c.d" twoX three)
  set(full "${NAME}: ${name}")
  add_test(NAME "${name}" COMMAND sh -c "echo '${full}' >>ran; ! grep -qxF '${full}' broken")
  set_tests_properties("${name}" PROPERTIES WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} LABELS "${label_${name}}")
endforeach()
add_custom_target(sanitized COMMAND sh -c "! grep -q ${NAME} ${CMAKE_SOURCE_DIR}/stop")
add_custom_target(check COMMAND sh -c "! grep -q ${NAME} ${CMAKE_SOURCE_DIR}/stop")
"""
PYTEST = """
import os
import pathlib
import pytest
ROOT = pathlib.Path(__file__).resolve().parents[2]

def check(name):
    name = pathlib.Path(os.environ["LANYARD_BUILD"]).name + ": " + name
    with open(ROOT / "ran", "a") as stream:
        stream.write(name + chr(10))
    assert name not in (ROOT / "broken").read_text().splitlines()

@pytest.mark.parametrize("word", ["a", "b[c::d] e"])
def test_words(word):
    check(word)

class TestClass:
    def test_in_it(self):
        check("in a class")
"""


class Project:
    def __init__(self, folder):
        self.folder = folder
        (folder / "tools").mkdir()
        for name in ("test", "again.py", "junit.py", "memcheck.py"):
            shutil.copy(ROOT / "tools" / name, folder / "tools")
        for name in ("tools/setup", "tools/tidy.py"):
            self.write(name, "#!/usr/bin/env python3\n")
            (folder / name).chmod(0o755)
        self.write("tests/harmed.py", "SETTINGS = {}\n")
        self.write("tests/failures/test_peers.py", PYTEST)
        self.write("tests/launch/test_mpi.py", "")
        self.write("CMakeLists.txt", CMAKE)
        self.write("CMakePresets.json", json.dumps(PRESET))
        self.write(".venv/bin/python", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        (folder / ".venv" / "bin" / "python").chmod(0o755)
        self.broken()
        self.stop()

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def broken(self, *names):
        self.write("broken", "".join(f"{name}\n" for name in names))

    def stop(self, *presets):
        """Makes the build of these presets fail."""
        self.write("stop", "".join(f"{name}\n" for name in presets))

    def test(self, *options):
        """(exit code, lines of output, names of the tests that ran) of tools/test."""
        self.write("ran", "")
        done = subprocess.run([sys.executable, "tools/test", *options], cwd=self.folder, capture_output=True,
                              text=True,
                              timeout=300, check=False,
                              env={**os.environ, "CMAKE_GENERATOR": "Unix Makefiles"})
        ran = sorted((self.folder / "ran").read_text().splitlines())
        return done.returncode, done.stdout.splitlines() + done.stderr.splitlines(), ran


SMALL = ["one", "two (of [a|b]) + c.d", "twoX", "three"]
WORDS = ["a", "b[c::d] e", "in a class"]
OPTIONS = ["--only", "ctest,pytest,tidy"]


def all_of(preset):
    return [f"{preset}: {name}" for name in SMALL + WORDS]


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def test_what_failed_runs_again_and_nothing_else(project):
    wrong = ["debug: a", "debug: two (of [a|b]) + c.d", "release: b[c::d] e", "release: in a class",
             "release: one"]
    project.broken(*wrong)
    code, lines, ran = project.test(*OPTIONS)
    assert code == 1 and ran == sorted(all_of("release") + all_of("debug")), lines
    end = lines.index("10 passed, 5 failed, 0 skipped")
    assert lines[end + 1] == "these failed:" and lines[-1] == "just these again: tools/test --again"
    assert sorted(lines[end + 2:-1]) == [
        "    debug tests.failures.test_peers: test_words[a]", "    debug: two (of [a|b]) + c.d",
        "    release tests.failures.test_peers.TestClass: test_in_it",
        "    release tests.failures.test_peers: test_words[b[c::d] e]", "    release: one"]
    project.broken("release: one")
    code, lines, ran = project.test("--again")
    assert (code, ran) == (1, wrong), lines
    assert lines[-4:] == ["4 passed, 1 failed, 0 skipped", "these failed:", "    release: one",
                          "just these again: tools/test --again"]
    project.broken()
    code, lines, ran = project.test("--again")
    assert (code, ran, lines[-1]) == (0, ["release: one"], "1 passed, 0 failed, 0 skipped"), lines
    code, lines, ran = project.test("--again")
    assert code != 0 and ran == [] and "nothing failed in the last run" in lines[-1]


@pytest.mark.thorough
def test_what_could_not_be_built_runs_whole(project):
    project.broken("release: one")
    project.stop("debug")
    code, lines, ran = project.test(*OPTIONS)
    assert code == 1 and ran == sorted(all_of("release"))
    assert "    build: build debug" in lines and lines[-1] == "just these again: tools/test --again"
    project.stop()
    project.broken("debug: three")
    code, lines, ran = project.test("--again")
    assert (code, ran) == (1, sorted(["release: one", *all_of("debug")])), lines
    project.stop("debug")
    code, lines, ran = project.test("--again")
    assert (code, ran) == (1, []), lines
    project.stop()  # the tests that could not run are remembered, and no others
    code, lines, ran = project.test("--again")
    assert (code, ran) == (1, ["debug: three"]), lines


def test_a_run_without_tests_fails_and_says_so(project):
    code, lines, ran = project.test("--only", "memcheck")
    assert (code, ran) == (1, [])
    assert lines[-3:] == ["0 passed, 0 failed, 0 skipped", "no test ran",
                          "the same again: tools/test --again"]
    code, lines, _ = project.test("--again")
    assert code == 1 and lines[-2] == "no test ran"


def test_a_run_that_did_not_end_leaves_nothing_to_run_again(project):
    code, lines, _ = project.test("--again")
    assert code != 0 and "no run of the tests has ended here" in lines[-1]
    project.broken("release: one")
    assert project.test("--only", "ctest", "--preset", "release")[0] == 1
    (project.folder / "tools" / "setup").write_text("#!/bin/sh\nkill -9 $PPID\n")
    assert project.test("--only", "ctest", "--preset", "release")[0] == -9
    assert "no run of the tests has ended here" in project.test("--again")[1][-1]


@pytest.mark.thorough
def test_tests_that_are_gone_are_told_of(project):
    project.broken("release: a", "release: one", "release: twoX")
    only = ["--only", "ctest,pytest", "--preset", "release"]
    assert project.test(*only)[0] == 1
    project.broken()
    project.write("tests/failures/test_peers.py", PYTEST.replace("test_words", "test_new"))
    project.write("CMakeLists.txt", CMAKE.replace(" one ", " "))
    code, lines, ran = project.test("--again")
    whole_file = ["release: a", "release: b[c::d] e", "release: in a class"]
    assert (code, ran) == (0, [*whole_file, "release: twoX"]), lines
    for name in ("one", "tests/failures/test_peers.py::test_words[a]"):
        assert f"lanyard: {name} failed in the last run, and now there is no such test" in lines
    project.write("tests/failures/test_peers.py", "import nothing_of_that_name\n")
    assert project.test(*only)[0] == 1
    project.write("tests/failures/test_peers.py", PYTEST)
    assert project.test("--again")[2] == [f"release: {word}" for word in WORDS]


def test_check_runs_the_quick_tests_of_one_build(project):
    project.broken("release: three")
    code, lines, ran = project.test("--check")
    assert (code, ran) == (1, ["release: one", "release: three"]), lines
    assert "2 passed, 1 failed, 0 skipped" in lines  # the check of tools/tidy.py also counts as passed
    project.broken()
    code, lines, ran = project.test("--again")
    assert (code, ran) == (0, ["release: three"]), lines
    assert project.test("--check", "--preset", "debug")[2] == ["debug: one", "debug: three"]
    project.stop("release")
    assert project.test("--check")[0] == 1
    assert "--check takes no other option" in project.test("--check", "--only", "ctest")[1][-1]


@pytest.mark.thorough
def test_the_names_of_all_tests_are_listed(project):
    project.broken("release: a")
    project.test("--only", "ctest,pytest", "--preset", "release")
    names = (project.folder / "build" / "results" / "names.txt").read_text().splitlines()
    assert names == sorted(names) and len(names) == len(all_of("release"))
    assert "release: twoX" in names and "release tests.failures.test_peers: test_words[a]" in names


def test_again_takes_no_other_options(project):
    code, lines, _ = project.test("--again", "--all")
    assert code == 2 and "--again takes no other option" in lines[-1]


@pytest.mark.parametrize(("classname", "name", "expected"), [
    ("tests.tools.test_again", "test_x[a.b]", "tests/tools/test_again.py::test_x[a.b]"),
    ("tests.tools.test_again.TestA.TestB", "test_x", "tests/tools/test_again.py::TestA::TestB::test_x"),
    ("", "tests.tools.test_again", "tests/tools/test_again.py"),
    ("tests.tools.no_such_file", "test_x", None)])
def test_names_of_pytest_are_found(classname, name, expected):
    assert again.node_id(ROOT, classname, name) == expected


def test_names_of_other_tools():
    assert again.for_ctest(["a", "b.c"]) == ["-R", r"^(a|b\.c)$"]
    assert again.for_ctest(["a" * 100] * 1000) == []
    assert again.of_mpi4py("mpi4py-wheel.n3.test_p2p_buf") == "3/test_p2p_buf"
    assert again.of_mpi4py("mpi4py.n3") is None
    assert again.for_mpi4py(["3/test_b", "12/test_a", "3/test_a"]) == [
        "--ranks", "3,12", "--tests", r"^(test_a|test_b)\.py$"]
    parts = ("pytest", "release-X"), ("fuzz", "release"), ("build", "fuzz"), ("tidy", "release")
    assert [again.needs(*part) for part in parts] == [{"release"}, {"release", "fuzz"}, {"release", "fuzz"},
                                                      set()]
