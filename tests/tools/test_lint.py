"""Tests tools/lint on a small repository: it prints each finding of clang and clang-tidy once, remembers what
is clean, and checks the layout of changed lines only."""
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRESETS = """{"version": 6, "configurePresets": [{"name": "lint", "binaryDir": "${sourceDir}/build/lint",
 "cacheVariables": {"CMAKE_CXX_COMPILER": "clang++-16", "CMAKE_UNITY_BUILD": "ON"}}]}
"""
LISTS = """cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES CXX)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
add_compile_options(-Wall)
add_library(small src/a.cc src/b.cc)
target_include_directories(small PRIVATE src ${CMAKE_BINARY_DIR})
add_custom_command(OUTPUT made.h COMMAND ${CMAKE_COMMAND} -E touch made.h)
add_custom_target(test_headers DEPENDS made.h)
"""
HEADER = '#pragma once\ninline int twice(int x) { return 2 * x; }\n#include "made.h"\n'
SHIFTED = "#pragma once\ninline int twice(int x) { if (x = 3) return 1; return 2 * x; }\n"
SOURCE = '#include "a.h"\nint NAME(int x) { return twice(x); }\n'
NEEDED = ("clang++-16", "clang-tidy-16", "git-clang-format-16", "cmake")
MISSING = [name for name in NEEDED if not shutil.which(name)]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)} (make lint)")


class Small:
    """A repository with two files and a header, all of it committed."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("tools/lint", ".clang-format"):
            (folder / name).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
        self.write("CMakePresets.json", PRESETS)
        self.write("CMakeLists.txt", LISTS)
        self.write(".gitignore", "build/\n")
        self.write(".clang-tidy", "Checks: '-*,clang-diagnostic-*,bugprone-*,-bugprone-suspicious-include'\n"
                                  "WarningsAsErrors: '*'\nHeaderFilterRegex: '/src/'\n")
        self.write("src/a.h", HEADER)
        for name in "ab":
            self.write(f"src/{name}.cc", SOURCE.replace("NAME", name))
        self.git("init", "-q", "-b", "main")
        self.commit()

    def write(self, name, text):
        (self.folder / name).parent.mkdir(exist_ok=True)
        (self.folder / name).write_text(text)

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=self.folder,
                       check=True, capture_output=True)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Change")

    def lint(self, *words):
        done = subprocess.run(["tools/lint", *words], cwd=self.folder, capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stdout + done.stderr


@pytest.fixture(name="small")
def small_repository(tmp_path):
    return Small(tmp_path)


def test_clean_code_passes_and_is_remembered(small):
    status, text = small.lint()
    assert status == 0 and "lint: 1 compilations, 0 findings, layout as in .clang-format" in text
    clean = small.folder / "build" / "lint" / "clean"
    assert len(list(clean.iterdir())) == 1
    (small.folder / "src" / "b.cc").touch()
    assert small.lint()[0] == 0 and len(list(clean.iterdir())) == 1
    small.write("src/b.cc", SOURCE.replace("NAME", "c"))
    assert small.lint()[0] == 0 and len(list(clean.iterdir())) == 2


def test_a_warning_in_a_header_is_an_error_and_printed_once(small):
    small.write("src/a.h", SHIFTED)
    small.commit()
    status, text = small.lint("--since", "HEAD")
    assert status == 1 and text.count("[clang-diagnostic-parentheses") == 1
    assert "src/a.h:2:33: error: using the result of an assignment" in text and str(small.folder) not in text
    assert small.lint("--since", "HEAD")[0] == 1  # findings are not remembered as clean


def test_a_reason_silences_a_check(small):
    loop = "void f(unsigned long n) {\n    for (int i = 0; i < n; i++) {\n    }\n}\n"
    small.write("src/b.cc", loop.replace("int i", "char i"))
    assert "bugprone-too-small-loop-variable" in small.lint()[1]
    silent = "i++) {  // NOLINT(bugprone-too-small-loop-variable): n is small"
    small.write("src/b.cc", loop.replace("int i", "char i").replace("i++) {", silent))
    assert small.lint()[0] == 0


def test_only_changed_lines_are_laid_out(small):
    small.write("src/b.cc", '#include "a.h"\nint   b ( ) ;\nint c();\n')
    small.commit()
    status, text = small.lint()
    assert status == 1 and "+int b();" in text and "layout differs" in text
    small.write("src/b.cc", '#include "a.h"\nint   b ( ) ;\nint d();\n')
    small.commit()
    assert small.lint()[0] == 0
    assert small.lint("--since", "HEAD~2")[0] == 1
    small.git("checkout", "-q", "-b", "feature", "HEAD~1")  # a branch: everything since main
    small.write("src/a.cc", "int   e();\n")
    assert "+int e();" in small.lint()[1]


def test_chosen_files(small):
    small.write("src/b.cc", "int b(int x) { if (x = 2) return 1; return 0; }\n")
    assert small.lint("src/a.cc")[0] == 1  # compiled with b.cc as one
    status, text = small.lint("src/none.cc")
    assert status == 1 and "src/none.cc is not a file" in text
    status, text = small.lint("src/a.h")
    assert status == 1 and "name files that end in .c or .cc" in text


def test_code_that_does_not_compile_is_a_finding(small):
    small.write("src/a.h", "#pragma once\n")
    status, text = small.lint("--since", "HEAD")
    assert status == 1 and "use of undeclared identifier 'twice'" in text
